# PostgreSQL's official image with the extension in it:
#   docker build --build-arg PG_MAJOR=17 --tag simhash_pg .
# compose.yaml starts it for trying it out; a release has it ready for each PostgreSQL.
ARG PG_MAJOR=17
# A tag, which can move. A release gives the digest that tools/packages/base-images prints:
#   --build-arg BASE=postgres:17-trixie@sha256:…
ARG BASE=postgres:${PG_MAJOR}-trixie

FROM ${BASE} AS build
ARG PG_MAJOR
# Debian keeps the compiler of cargo-web up to date within a release.
RUN apt-get update && apt-get install --yes --no-install-recommends \
        ca-certificates cargo-web gcc libc6-dev libclang-dev libicu-dev make python3 rustfmt-web \
        "postgresql-server-dev-$PG_MAJOR"
COPY . /src
RUN make -C /src install DESTDIR=/image PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config"
# Whose crates are in the library, and their licences.
RUN cd /src && install -D --mode 644 /dev/null /image/usr/share/doc/simhash_pg/copyright && \
    { cat debian/copyright.in && debian/crates-copyright; } >/image/usr/share/doc/simhash_pg/copyright

FROM ${BASE}
ARG BASE
LABEL org.opencontainers.image.source=https://REPOSITORY/simhash_pg \
      org.opencontainers.image.base.name=docker.io/library/${BASE} \
      org.opencontainers.image.licenses=PostgreSQL
COPY --from=build /image /

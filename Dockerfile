# PostgreSQL's official image with the extension in it:
#   docker build --build-arg PG_MAJOR=17 --tag simhash_pg .
# compose.yaml starts it for trying it out.
ARG PG_MAJOR=17

FROM postgres:${PG_MAJOR}-trixie AS build
ARG PG_MAJOR
# Debian keeps the compiler of cargo-web up to date within a release.
RUN apt-get update && apt-get install --yes --no-install-recommends \
        cargo-web gcc libc6-dev libclang-dev libicu-dev make rustfmt-web "postgresql-server-dev-$PG_MAJOR"
COPY . /src
RUN make -C /src install PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config"

FROM postgres:${PG_MAJOR}-trixie
ARG PG_MAJOR
COPY --from=build /usr/lib/postgresql/$PG_MAJOR/lib/simhash_pg.so /usr/lib/postgresql/$PG_MAJOR/lib/
COPY --from=build /usr/share/postgresql/$PG_MAJOR/extension/simhash_pg* /usr/share/postgresql/$PG_MAJOR/extension/

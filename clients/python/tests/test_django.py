"""Django's field, functions, lookup and index, with parameters that the client binds and that the server binds."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections
from django.db.models import Exists, F, OuterRef, Value

from django_app.models import Code, Document
from simhash_pg import hamming, hamming_similarity, simhash
from simhash_pg.django import FingerprintField, Hamming, HammingSimilarity, Simhash
from texts import texts

LEAST, MOST = -(2**63), 2**63 - 1
# Whatever is lost of 64 bits, one of them changes.
FINGERPRINTS = [LEAST, MOST, 0, -1, 1, 42, 2**31, -(2**31), 2**32, 2**32 + 7, 4565828753376763011, -9169608108452805018]
MANY = "SELECT '', hashint8extended(i, 1) FROM generate_series(1, 20000) AS i"


@pytest.fixture(scope="module")
def migrated(django_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The tables of tests/django_app, made by migrations that Django wrote to this folder."""
    folder = tmp_path_factory.mktemp("migrations")
    (folder / "written").mkdir()
    (folder / "written" / "__init__.py").touch()
    sys.path.insert(0, str(folder))
    call_command("makemigrations", "django_app", verbosity=0)
    call_command("migrate", verbosity=0)
    Code.objects.bulk_create([Code(name=str(code), si=code) for code in FINGERPRINTS])
    Document.objects.bulk_create([Document(body=text) for text in texts(3000)])
    with connections["default"].cursor() as cursor:
        # Enough rows for an index to be worth it.
        cursor.execute(f"INSERT INTO django_app_code (name, si) {MANY}")
        cursor.execute("VACUUM ANALYZE django_app_code, django_app_document")
    yield folder
    connections.close_all()
    sys.path.remove(str(folder))


@pytest.fixture(params=["default", "server"])
def code(migrated: Path, request: pytest.FixtureRequest) -> Any:
    """The codes, by a connection of either kind."""
    return Code.objects.using(request.param)


@pytest.fixture(params=["default", "server"])
def document(migrated: Path, request: pytest.FixtureRequest) -> Any:
    return Document.objects.using(request.param)


def assert_by_index(queryset: Any) -> None:
    plan = queryset.explain()
    assert "code_si" in plan and "Seq Scan" not in plan, plan


@pytest.mark.parametrize("value", FINGERPRINTS)
@pytest.mark.parametrize("argument", [int, Value, lambda value: Value(value, output_field=FingerprintField())])
def test_all_64_bits_arrive(code: Any, value: int, argument: Any) -> None:
    distance, similarity = Hamming("si", argument(value)), HammingSimilarity("si", argument(value))
    rows = code.filter(name__gt="").annotate(distance=distance, similarity=similarity)
    found = {row.si: (row.distance, row.similarity) for row in rows}
    assert found == {si: (hamming(si, value), hamming_similarity(si, value)) for si in FINGERPRINTS}
    assert code.get(si=value).name == str(value)
    assert code.filter(si__in=[value]).count() == 1


@pytest.mark.parametrize("value", FINGERPRINTS)
@pytest.mark.parametrize("radius", [-(2**40), -1, 0, 6, 20, 64, 2**40])
def test_near(code: Any, value: int, radius: int) -> None:
    near = code.filter(si__near=(value, radius))
    assert sorted(near.values_list("si", flat=True)) == sorted(
        si for si in code.values_list("si", flat=True) if hamming(si, value) <= radius
    )


def test_near_uses_the_index(code: Any) -> None:
    for value in FINGERPRINTS:
        assert_by_index(code.filter(si__near=(value, 6)))
        assert_by_index(code.alias(distance=Hamming("si", value)).filter(distance__lte=6).order_by("distance"))


def test_nearest_uses_the_index(code: Any) -> None:
    for value in FINGERPRINTS:
        nearest = code.order_by(Hamming("si", value))[:10]
        assert_by_index(nearest)
        expected = sorted(hamming(si, value) for si in code.values_list("si", flat=True))[:10]
        assert [hamming(row.si, value) for row in nearest] == expected


def test_similarity_uses_the_index(code: Any) -> None:
    assert_by_index(code.alias(similarity=HammingSimilarity("si", 42)).filter(similarity__gte=0.9))


def test_near_another_row(code: Any) -> None:
    others = code.filter(si__near=(OuterRef("si"), 3)).exclude(pk=OuterRef("pk"))
    rows = code.filter(name__gt="").filter(Exists(others))
    expected = [a for a in FINGERPRINTS if any(a != b and hamming(a, b) <= 3 for b in FINGERPRINTS)]
    assert sorted(rows.values_list("si", flat=True)) == sorted(expected)
    plan = rows.explain()
    assert "code_si" in plan, plan
    assert code.filter(si__near=(F("si"), 0)).count() == code.count()
    assert code.exclude(si__near=(42, 64)).count() == 0


def test_near_in_a_subquery(code: Any) -> None:
    near = code.filter(si__near=[42, 6])
    expected = sorted(si for si in code.values_list("si", flat=True) if hamming(si, 42) <= 6)
    assert sorted(code.filter(si__in=near.values("si")).values_list("si", flat=True)) == expected
    assert not code.exclude(si__near=[42, 6]).filter(si__in=near.values("si")).exists()


def test_generated_fingerprints(document: Any) -> None:
    rows = list(document.annotate(again=Simhash("body"), constant=Simhash(Value("a text"), "char:2")))
    assert len(rows) == 3000
    for row in rows:
        assert row.si == row.again == simhash(row.body)
        assert row.by_words == simhash(row.body, "word:2")
        assert row.constant == simhash("a text", "char:2")
    first = next(row for row in rows if row.si is not None)
    assert first in document.filter(si__near=(first.si, 0))
    assert document.order_by(Hamming("si", Simhash(Value(first.body))))[0].si == first.si


def test_null(code: Any) -> None:
    code.create(name="none", si=None)
    try:
        assert code.annotate(distance=Hamming("si", 42)).get(name="none").distance is None
        assert not code.filter(si__near=(42, 64), si=None).exists()
    finally:
        code.filter(name="none").delete()


def test_migrations(migrated: Path) -> None:
    written = (migrated / "written" / "0001_initial.py").read_text()
    assert "('si', simhash_pg.django.FingerprintField(null=True))" in written
    assert "simhash_pg.django.HammingIndex(fields=['si'], name='code_si')" in written
    assert "expression=simhash_pg.django.Simhash(" in written
    # Nothing has changed since.
    call_command("makemigrations", "--check", "django_app", verbosity=0)


def test_index_is_of_our_method(code: Any) -> None:
    with connections[code.db].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE tablename ~ '^django_app' AND indexdef ~ 'USING hamming'")
        assert cursor.fetchone() == (2,)

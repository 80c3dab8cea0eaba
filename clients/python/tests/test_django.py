"""Django's field, functions, lookup and index, with parameters that the client binds and that the server binds."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.paginator import Paginator
from django.db import IntegrityError, connections
from django.db.models import Exists, F, OuterRef, Value

from django_app.models import Code, Document, Hash, Note, Picture
from simhash_pg import code_decode, code_encode, hamming, hamming_similarity, simhash
from simhash_pg.django import FingerprintField, Hamming, HammingSimilarity, Simhash, code as code_of, nearest_first
from texts import texts

LEAST = -(2**63)
MOST = 2**63 - 1
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
    distance = Hamming("si", argument(value))
    similarity = HammingSimilarity("si", argument(value))
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


def test_pages_of_the_nearest_use_the_index(code: Any) -> None:
    for value in FINGERPRINTS:
        assert_by_index(nearest_first(code.all(), "si", value, 6)[:10])
        rows = nearest_first(code.all(), "si", value, 18)
        near = [(hamming(si, value), key) for key, si in code.values_list("pk", "si") if hamming(si, value) <= 18]
        pages = Paginator(rows, 2)
        assert [row.pk for page in pages for row in page] == [key for _, key in sorted(near)]


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
    assert "('code', simhash_pg.django.CodeField(256, null=True))" in written
    assert "expression=simhash_pg.django.Simhash(" in written
    assert "simhash_pg.django.NearExclusion(equal=['tenant'], field='si', name='no_near_note', radius=3)" in written
    # Nothing has changed since.
    call_command("makemigrations", "--check", "django_app", verbosity=0)


def test_index_is_of_our_method(code: Any) -> None:
    with connections[code.db].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE tablename ~ '^django_app' AND indexdef ~ 'USING hamming'")
        assert cursor.fetchone() == (6,)


PDQ = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22"
ALL_CODES = " || ".join(f"hashint8extended(i, {n})::bit(64)" for n in range(4))


@pytest.fixture(params=["default", "server"])
def picture(migrated: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    pictures = Picture.objects.using(request.param)
    bits = code_decode(PDQ, bits=256)
    pictures.bulk_create([Picture(name="first", code=bits), Picture(name="none", code=None)])
    with connections["default"].cursor() as cursor:
        cursor.execute(f"INSERT INTO django_app_picture (name, code) SELECT '', {ALL_CODES} FROM generate_series(1, 20000) AS i")
        cursor.execute("INSERT INTO django_app_picture (name, code) SELECT 'near', set_bit(set_bit(code, 9, 1 - get_bit(code, 9)), 7, 1 - get_bit(code, 7))"
            " FROM django_app_picture WHERE name = 'first'")
        cursor.execute("VACUUM ANALYZE django_app_picture")
    yield pictures
    pictures.all().delete()


def test_codes(picture: Any) -> None:
    bits = code_decode(PDQ)
    assert code_encode(picture.get(name="first").code) == PDQ
    assert picture.get(code=bits).name == "first"
    assert picture.get(name="none").code is None
    for near in (picture.filter(code__near=(bits, 15)), picture.filter(code__near=(code_of(bits), 15))):
        assert sorted(row.name for row in near) == ["first", "near"]
        assert "picture_code" in near.explain()
    nearest = picture.order_by(Hamming("code", code_of(bits)))[:2]
    assert [row.name for row in nearest] == ["first", "near"]
    assert "picture_code" in nearest.explain()
    assert [row.name for row in nearest_first(picture.all(), "code", bits, 15)] == ["first", "near"]
    others = picture.filter(code__near=(OuterRef("code"), 15)).exclude(pk=OuterRef("pk"))
    assert sorted(picture.filter(Exists(others)).values_list("name", flat=True)) == ["first", "near"]
    distances = picture.filter(name="near").annotate(distance=Hamming("code", code_of(bits)))
    assert distances.get().distance == sum(a != b for a, b in zip(distances.get().code, bits))


def test_what_is_no_fingerprint_is_told(code: Any) -> None:
    for wrong in ("text", 42, (42,), (42, 6, 1)):
        with pytest.raises(ValueError, match=r"near needs a pair, si__near=\(value, 6\)"):
            code.filter(si__near=wrong)
    for wrong in [("text", 6), (True, 6), (1.5, 6), (b"", 6), (None, 6)]:
        with pytest.raises(TypeError, match="a fingerprint is an int, not <class"):
            code.filter(si__near=wrong)
    for wrong in ["6", 6.5, True, None]:
        with pytest.raises(TypeError, match="a radius is an int, not <class"):
            code.filter(si__near=(42, wrong))
    for call in [
        lambda: code.filter(si__near=(2**63 + 5, 6)),
        lambda: code.order_by(Hamming("si", 2**63 + 5)),
        lambda: code.create(name="", si=2**63 + 5),
    ]:
        with pytest.raises(ValueError, match=r"9223372036854775813 is not a bigint\nsimhash_pg.signed\(\) converts"):
            call()


def test_what_is_no_code_is_told(migrated: Path) -> None:
    pictures = Picture.objects
    with pytest.raises(ValueError, match=r"other digits than 0 and 1\nsimhash_pg.code_decode\(\) makes"):
        pictures.create(name="", code=PDQ)
    with pytest.raises(ValueError, match="a code of 256 bits is needed, and this one has 252"):
        pictures.filter(code__near=(code_decode(PDQ[1:]), 31))
    with pytest.raises(TypeError, match="a code is a str of the digits 0 and 1, not <class 'int'>"):
        pictures.filter(code__near=(42, 31))


MILK = "Milk, eggs, bread and butter"


@pytest.mark.parametrize("using", ["default", "server"])
def test_near_duplicates_are_refused(migrated: Path, using: str) -> None:
    notes = Note.objects.using(using)
    first = notes.create(tenant=7, body=MILK)
    notes.create(tenant=8, body=MILK)
    near = Note(tenant=7, body=MILK.lower() + "!")
    with pytest.raises(ValidationError, match="Constraint “no_near_note” is violated: there is a near-duplicate."):
        near.validate_constraints() if using == "default" else Note._meta.constraints[0].validate(Note, near, using=using)
    with pytest.raises(IntegrityError, match="no_near_note"):
        near.save(using=using)
    # Another text, a text without a fingerprint, and the row itself.
    for note in (Note(tenant=7, body="A ticket to the sea"), Note(tenant=7, body=""), first):
        Note._meta.constraints[0].validate(Note, note, using=using)
        note.save(using=using)
    notes.create(tenant=7, body="")
    notes.all().delete()


def test_full_clean_says_it_before_the_database(migrated: Path) -> None:
    Note.objects.create(tenant=7, body=MILK)
    with pytest.raises(ValidationError, match="no_near_note"):
        Note(tenant=7, body=MILK + "?").full_clean()
    Note(tenant=9, body=MILK).full_clean()
    Note.objects.all().delete()


@pytest.mark.parametrize("using", ["default", "server"])
@pytest.mark.parametrize("value", FINGERPRINTS)
def test_near_codes_are_refused(migrated: Path, using: str, value: int) -> None:
    hashes = Hash.objects.using(using)
    constraint = Hash._meta.constraints[0]
    hashes.create(si=value)
    near = value ^ 0b111111
    far = value ^ 0b1111111
    with pytest.raises(ValidationError, match="That is known already."):
        constraint.validate(Hash, Hash(si=near), using=using)
    with pytest.raises(IntegrityError, match="no_near_hash"):
        hashes.create(si=near)
    for other in (Hash(si=near, is_marked=True), Hash(si=far), Hash(si=None)):
        constraint.validate(Hash, other, using=using)
        other.save(using=using)
    hashes.all().delete()


def test_an_index_with_a_further_column(migrated: Path) -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'note_si_tenant'")
        assert cursor.fetchone()[0].endswith("USING hamming (si, tenant)")

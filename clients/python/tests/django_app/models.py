"""The models of the tests."""

from django.db import models

from simhash_pg.django import CodeField, FingerprintField, HammingIndex, NearExclusion, Simhash


class Code(models.Model):
    """Codes that another program makes."""

    name = models.TextField()
    si = FingerprintField(null=True)

    class Meta:
        indexes = [HammingIndex(fields=["si"], name="code_si")]


class Picture(models.Model):
    """Codes of 256 bits, such as PDQ."""

    name = models.TextField()
    code = CodeField(256, null=True)

    class Meta:
        indexes = [HammingIndex(fields=["code"], name="picture_code")]


class Document(models.Model):
    """Texts, with fingerprints of two schemes by the database."""

    body = models.TextField()
    si = models.GeneratedField(expression=Simhash("body"), output_field=FingerprintField(null=True), db_persist=True)
    by_words = models.GeneratedField(
        expression=Simhash("body", scheme="word:2"), output_field=FingerprintField(null=True), db_persist=True
    )

    class Meta:
        indexes = [HammingIndex(fields=["si"])]


class Note(models.Model):
    """Texts of which a tenant has no near-duplicates."""

    tenant = models.IntegerField()
    body = models.TextField()
    si = models.GeneratedField(
        expression=Simhash("body", scheme="word:1"), output_field=FingerprintField(null=True), db_persist=True
    )

    class Meta:
        indexes = [HammingIndex(fields=["si", "tenant"], name="note_si_tenant")]
        constraints = [NearExclusion(field="si", radius=3, equal=["tenant"], name="no_near_note")]


class Hash(models.Model):
    """Codes of another program, none near another, but for those that are marked."""

    si = FingerprintField(null=True)
    is_marked = models.BooleanField(default=False)

    class Meta:
        constraints = [
            NearExclusion(
                field="si", radius=6, name="no_near_hash", condition=models.Q(is_marked=False),
                violation_error_message="That is known already.",
            )
        ]

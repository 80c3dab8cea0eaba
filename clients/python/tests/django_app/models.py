"""The models of the tests."""

from django.db import models

from simhash_pg.django import CodeField, FingerprintField, HammingIndex, Simhash


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

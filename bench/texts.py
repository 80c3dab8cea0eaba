"""The texts of a folder of documentation: text or HTML, as it is or by gzip."""

import gzip
import html
import pathlib
import re

LEAST = 200
BLOCK = re.compile(r"(?is)<(script|style|head)\b.*?</\1>|<!--.*?-->|</?(?:p|div|li|[duo]l|h\d|pre|table|t[dhr]|d[dt]|br|section|blockquote)\b[^>]*>")
TAG = re.compile(r"<[^>]*>")


def texts_of(folder):
    """Yields each file, and each of its paragraphs, if it has at least LEAST bytes."""
    for path in sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file()):
        content = path.read_bytes()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        if b"\0" in content:
            continue
        text = content.decode(errors="ignore")
        if "<html" in text[:2000].lower():
            text = html.unescape(TAG.sub("", BLOCK.sub("\n\n", text))).replace("\0", "")
        paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
        paragraphs = [part for part in paragraphs if part]
        for part in dict.fromkeys(["\n\n".join(paragraphs), *paragraphs]):
            if len(part.encode()) >= LEAST:
                yield part

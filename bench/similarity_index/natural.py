"""Pairs of versions of texts from two releases, as CSV: `natural.py FOLDER OLD NEW SEED TEXTS [VERSIONS]`.

FOLDER/RELEASE/lists has what `apt-get update` fetched, and FOLDER/RELEASE/pages the manual pages of some packages.
TEXTS gets rows of (id, set, pair, side, family, text): side 0 is of the old release, 1 of the new one; of a family are the
texts of one source package. Two sets are simulated, and are called so. With VERSIONS, rows of (set, key, old text, new text),
the pairs are those, each of a family of its own, and FOLDER is not read.
"""

import collections
import csv
import gzip
import hashlib
import pathlib
import random
import re
import subprocess
import sys

PAIRS = 1500
LANGUAGES = "cs da de es fi fr it ja ko nl pl pt_BR ru sk sv tr uk vi zh_CN".split()
# What scanners take for what, as often as they do: a list of ours, from pages that were scanned.
CONFUSIONS = {"e": "c", "c": "e", "o": "0", "l": "1", "i": "l", "t": "f", "f": "t", "h": "b", "u": "n", "n": "u", "a": "s",
              "m": "rn", "w": "vv", "d": "cl", "s": "5", "g": "q", "r": "t", "b": "h", "v": "y", "y": "v", ",": ".", ".": ","}


def stanzas(file):
    """Yields the paragraphs of an index as dicts; a field of several lines keeps its line breaks."""
    content = subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", file], capture_output=True, check=True).stdout
    for block in content.decode("utf-8", "replace").split("\n\n"):
        fields = {}
        name = None
        for line in block.split("\n"):
            if line[:1] in " \t" and name:
                fields[name] += "\n" + line[1:]
            elif ":" in line:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        yield fields


def descriptions(lists, languages=("en", *LANGUAGES)):
    """For each language, title and description by package; and the source package of each package."""
    sources = {}
    texts = collections.defaultdict(dict)
    for file in sorted(lists.glob("*_Packages*")):
        for fields in stanzas(file):
            if "Package" in fields:
                sources[fields["Package"]] = fields.get("Source", fields["Package"]).split(" ")[0]
    for language in languages:
        for file in sorted(lists.glob(f"*Translation-{language.replace('_', '%5f')}.*")):
            for fields in stanzas(file):
                described = fields.get(f"Description-{language}")
                if described and "Package" in fields:
                    title, _, body = described.partition("\n")
                    body = "\n".join("" if line == "." else line for line in body.split("\n"))
                    texts[language][fields["Package"]] = title, body
    return texts, sources


def plain(roff):
    """Returns the text of a manual page: without comments, macros and escapes."""
    lines = []
    for line in roff.split("\n"):
        if re.match(r"""[.'](\\"|\s*(TH|ds|de|if|ie|el|nr|so|\.))""", line):
            continue
        line = re.sub(r"^[.']\s*[A-Za-z]{1,3}\b", "", line)
        line = re.sub(r"\\f(\[\w*\]|\(..|.)|\\s[+-]?\d|\\[&/,|^!]|\\\".*", "", line)
        lines.append(re.sub(r"\\-", "-", re.sub(r"\\\(..|\\\[\w+\]|\\.", " ", line)))
    return "\n".join(lines)


def pages(folder, only=None):
    """Manual pages by their path, each with its language; perhaps those of one language alone."""
    found = {}
    for file in sorted(folder.glob("**/man/**/*.gz")):
        if not file.is_symlink():
            path = str(file).split("/man/", 1)[1]
            language = path.split("/")[0] if not path.startswith("man") else "en"
            if only not in (None, language):
                continue
            try:
                found[path] = language, plain(gzip.open(file, "rt", encoding="utf-8", errors="replace").read())
            except OSError:
                continue
    return found


def noisy(random, text, share):
    """Simulates a scan: of each character, a confusion with this probability; some blanks are lost."""
    out = []
    for c in text:
        if random.random() >= share:
            out.append(c)
        elif c == " ":
            out.append(random.choice(["", "  "]))
        else:
            out.append(random.choice([CONFUSIONS.get(c.lower(), c), CONFUSIONS.get(c.lower(), c), ""]))
    return "".join(out)


RESPELT = [(r"ck\b", "cke"), (r"([bdgklmnprt])\b", r"\1e"), (r"\bv", "u"), (r"(?<=\w)u(?=\w)", "v"), ("j", "i"), (r"y\b", "ie"),
           (r"i(?=[nmt])", "y"), (r"our\b", "ovr"), ("ee", "e"), (r"l\b", "ll"), ("th", "y"), ("s(?=[aeiou])", "ſ")]


def respelt(random, text):
    """Simulates old spelling: each rule changes each of its places with a probability of 1/4."""
    text = text.lower()
    for pattern, by in RESPELT:
        text = re.sub(pattern, lambda m: m.expand(by) if random.random() < 0.25 else m[0], text)
    return text


def order(seed, key):
    return hashlib.sha256(f"{seed} {key}".encode()).digest()


def version_pairs(folder, old, new):
    """Yields (set, key, family, old text, new text) of texts that differ."""
    (before, sources), (after, _) = (descriptions(folder / release / "lists") for release in (old, new))
    for language in before:
        other = "en" if language == "en" else "others"
        for package, (title, body) in before[language].items():
            if package in after[language]:
                new_title, new_body = after[language][package]
                key = f"{language} {package}"
                family = f"{language} {sources.get(package, package)}"
                if body != new_body and min(len(body), len(new_body)) > 100:
                    yield f"descriptions, {other}", key, family, body, new_body
                if title.casefold() != new_title.casefold() and len(title.split()) > 2:
                    yield f"titles, {other}", key, family, title, new_title
                if language in ("tr", "vi", "fr", "de", "cs", "pl") and body != new_body and len(body) > 100:
                    yield f"descriptions, {language}", key, family, body, new_body
    page = pages(folder / old / "pages")
    new_page = pages(folder / new / "pages")
    for path, (language, text) in page.items():
        if path in new_page and text != new_page[path][1] and min(len(text), len(new_page[path][1])) > 500:
            yield f"manual pages, {'en' if language == 'en' else 'others'}", path, path, text, new_page[path][1]
            if language == "el":
                yield "Greek", path, path, text, new_page[path][1]


def sentences(folder, release):
    for path, (language, text) in pages(folder / release / "pages").items():
        for n, sentence in enumerate(re.findall(r"[A-Z][^.]{60,300}\.", re.sub(r"\s+", " ", text))):
            if language == "en" and n % 7 == 3 and len(sentence.split()) > 9:
                yield f"{path} {n}", sentence


def release_pairs(folder, old, new, seed):
    """Yields (set, key, family, old text, new text) of all sets."""
    yield from version_pairs(folder, old, new)
    for key, sentence in sentences(folder, old):
        own = random.Random(f"{seed} {key}")
        yield "sentences, simulated scan", key, key, sentence, noisy(own, sentence, 0.03)
        yield "sentences, simulated old spelling", key, key, sentence, respelt(own, sentence)


def given_pairs(file):
    csv.field_size_limit(1 << 30)
    with open(file, newline="", encoding="utf-8") as rows:
        for name, key, before, after in csv.reader(rows):
            if before != after:
                yield name, key, key, before, after


def main(folder, old, new, seed, texts, versions=None):
    sets = collections.defaultdict(list)
    for name, *pair in given_pairs(versions) if versions else release_pairs(pathlib.Path(folder), old, new, seed):
        sets[name].append(pair)
    with open(texts, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        number = 0
        for name, pairs in sorted(sets.items()):
            pairs.sort(key=lambda pair: order(seed, pair[0]))
            for n, (_, family, *sides) in enumerate(pairs[:PAIRS]):
                for side, text in enumerate(sides):
                    rows.writerow([number, name, n, side, family, text.replace("\0", "")])
                    number += 1
            print(f"{name}: {len(pairs):,} pairs", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

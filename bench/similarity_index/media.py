"""The sections and pages of manuals in several media, as CSV: `media.py FOLDER PACKAGES PAIRS`.

FOLDER/PACKAGE has what a package brings, and PACKAGES says where its manual is as pages of HTML, as a text, as a PDF and as
an EPUB. PAIRS gets rows of (set, key, text, text, is the first HTML, is the second HTML).

A section of HTML goes from a heading to the next one, and the first and the last of a page have what is before and behind
them, such as navigation. In the other media it begins where the words of the heading and the next three come, and ends
where that of the next section does. It is left out where these come twice, or not at all, or where it has less than half
or more than twice as many words, which are other sections. A page has all sections of a file.
"""

import csv
import gzip
import html
import itertools
import pathlib
import re
import subprocess
import sys
import zipfile

HEADING = re.compile(r"<h([1-6])\b.*?</h\1\s*>", re.S | re.I)
LEAST = 40
FOLLOWING = 3


def words(text):
    """Each word of letters, folded, and where it begins."""
    return [(match[0].casefold(), match.start()) for match in re.finditer(r"[^\W\d_]+", text)]


def without_markup(source):
    source = re.sub(r"<(script|style|title)\b.*?</\1\s*>|<!--.*?-->", " ", source, flags=re.S | re.I)
    return html.unescape(re.sub(r"<[^>]*>", " ", source).replace("¶", " ").replace("&para;", " "))


def read(file):
    content = gzip.open(file).read() if file.suffix == ".gz" else file.read_bytes()
    return content if content[:4] == b"%PDF" else content.decode("utf-8", "replace")


def flat(file):
    """The text of a file that is no HTML."""
    content = read(file)
    if isinstance(content, bytes):
        content = subprocess.run(["pdftotext", "-", "-"], input=content, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    return content


def pages_of(root, globs):
    """The pages of HTML and of the EPUB, each as its source."""
    yield [read(file) for file in sorted(root.glob(globs[0]))]
    if len(globs) > 3:
        with zipfile.ZipFile(root / globs[3]) as book:
            yield [book.read(name).decode("utf-8", "replace") for name in sorted(book.namelist()) if name.endswith("html")]


def sections(page):
    """The source of each section, by the words that it begins with: those of its heading and the next three."""
    starts = [match.start() for match in HEADING.finditer(page)]
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(page)
        heading = HEADING.match(page, start)
        title, body = (words(without_markup(part)) for part in (heading[0], page[heading.end() : end]))
        begins = tuple(word for word, _ in title + body[:FOLLOWING])
        yield begins, page[0 if number == 0 else start : end], len(title) + len(body)


def find(anchors, text):
    """Where each of these runs of words begins in the text, of those that come once."""
    stream = words(text)
    places = {}
    for length in {len(anchor) for anchor in anchors}:
        for at in range(len(stream) - length + 1):
            run = tuple(word for word, _ in stream[at : at + length])
            if run in anchors:
                places.setdefault(run, []).append(stream[at][1])
    return {run: found[0] for run, found in places.items() if len(found) == 1}


def is_alike(text, count):
    return count / 2 <= len(words(text)) <= 2 * count


def cut(pages, text):
    """Sections of a text that is no HTML by the words that they begin with, and pages by the number of the page of HTML."""
    owner = {begins: number for number, page in enumerate(pages) for begins, _, _ in page}
    places = find(set(owner), text)
    order = sorted(places, key=places.get)
    ends = dict(zip(order, [places[begins] for begins in order[1:]] + [len(text)]))
    parts = {begins: text[places[begins] : ends[begins]] for begins in order}
    runs = {}
    for number, run in itertools.groupby(order, owner.get):
        runs.setdefault(number, []).append(list(run))
    whole = {number: text[places[found[0][0]] : ends[found[0][-1]]] for number, found in runs.items() if len(found) == 1}
    return parts, whole


def main(folder, packages, pairs):
    with open(pairs, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        for line in open(packages, encoding="utf-8"):
            name, where, *globs = line.split()
            package = pathlib.Path(folder) / name
            if not package.is_dir():
                continue
            raw, *book = pages_of(package / where, globs)
            sources, *book = [[list(sections(page)) for page in part] for part in (raw, *book)]
            in_book = {begins: (source, count) for page in reversed(book[0] if book else []) for begins, source, count in page}
            (texts, text_pages), (prints, print_pages) = (cut(sources, flat(package / where / file)) for file in globs[1:3])
            found = total = 0

            def put(title, key, *sides):
                rows.writerow([title, f"{name} {key}", *(text.replace("\0", "") for text, _ in sides), *(is_html for _, is_html in sides)])

            for number, page in enumerate(sources):
                for begins, source, count in page:
                    if count < LEAST:
                        continue
                    total += 1
                    media = {"HTML": (source, True)}
                    for medium, parts in (("TXT", texts), ("PDF", prints)):
                        if begins in parts and is_alike(parts[begins], count):
                            media[medium] = parts[begins], False
                    if begins in in_book and count / 2 <= in_book[begins][1] <= 2 * count:
                        media["EPUB"] = in_book[begins][0], True
                    found += "TXT" in media
                    for a, b in (("HTML", "TXT"), ("HTML", "PDF"), ("HTML", "EPUB"), ("TXT", "PDF"), ("EPUB", "TXT"), ("EPUB", "PDF")):
                        if a in media and b in media:
                            put(f"sections, {a} and {b}", " ".join(begins), media[a], media[b])
                count = sum(count for _, _, count in page)
                for medium, parts in (("TXT", text_pages), ("PDF", print_pages)):
                    if count >= LEAST and number in parts and is_alike(parts[number], count):
                        put(f"pages, HTML and {medium}", number, (raw[number], True), (parts[number], False))
            print(f"{name}: of {total} sections of {LEAST} words or more, {found} are in the text", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])

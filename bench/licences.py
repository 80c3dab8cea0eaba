"""Writes ScanCode's labelled texts and files, as COPY reads them. Usage: licences.py CHECKOUT FOLDER

known.tsv: name, licence, whether it is a text or notice of 100 characters. All texts of 20 characters are in it.
file.tsv: name, licence, whether ScanCode calls that a licence and not a kind of them, such as "proprietary". Files of 300
characters are in it whose only label is one licence that has a text or notice.
"""

import pathlib
import re
import sys

checkout, folder = map(pathlib.Path, sys.argv[1:])
data = checkout / "src/licensedcode/data"


def field(text):
    return text.replace("\0", "").translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"})


def flags(head):
    return set(re.findall(r"^is_(\w+): (?:yes|true)", head, re.M))


labels, kinds = set(), set()
with open(folder / "known.tsv", "w") as known:
    for path in sorted([*data.glob("licenses/*.LICENSE"), *data.glob("rules/*.RULE")]):
        head, body = re.match(r"---\n(.*?)\n---\n?(.*)", path.read_text(errors="replace"), re.S).groups()
        licence = re.search(r"^(?:key|license_expression): (.*)", head, re.M)
        is_licence, is_a, body = path.suffix == ".LICENSE", flags(head), body.strip()
        if is_licence and is_a & {"generic", "unknown"}:
            kinds.add(licence[1])
        is_text = (is_licence or bool(is_a & {"license_text", "license_notice"})) and len(body) >= 100
        is_labelled = is_licence or any(name.startswith("license_") for name in is_a - {"license_clue"})
        if licence and is_labelled and "false_positive" not in is_a and len(body) >= 20:
            known.write("\t".join([path.name, licence[1].strip(), str(is_text), field(body)]) + "\n")
            if is_text:
                labels.add(licence[1].strip())

with open(folder / "file.tsv", "w") as files:
    for path in sorted((checkout / "tests/licensedcode/data/datadriven").rglob("*.yml")):
        labelled = path.with_suffix("")
        found = re.search(r"^license_expressions:\n((?: *- .*\n?)+)", path.read_text(), re.M)
        if not found or not labelled.is_file():
            continue
        licences = re.findall(r"- (.*)", found[1])
        body = labelled.read_bytes().decode(errors="replace")
        if len(licences) == 1 and licences[0] in labels and " " not in licences[0] and len(body) >= 300:
            files.write("\t".join([labelled.name, licences[0], str(licences[0] not in kinds), field(body)]) + "\n")

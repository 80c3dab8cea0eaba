"""Writes labelled licence texts and files, as COPY reads them. Usage: licences.py CHECKOUT FOLDER

known.tsv: name, licence, whether it is a text or notice of 100 characters. All texts of 20 characters are in it.
file.tsv: name, licence, whether ScanCode calls that a licence and not a kind of them, such as "proprietary". Files of 300
characters are in it whose only label is one licence that has a text or notice.

Of a checkout of SPDX's list, known.tsv has its texts without their markup, and file.tsv the texts that they are tested with,
but for deprecated licences, which have the texts of others.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree


def field(text):
    return text.replace("\0", "").translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"})


def flags(head):
    return set(re.findall(r"^is_(\w+): (?:yes|true)", head, re.M))


def of_scancode(checkout, known, files):
    data = checkout / "src/licensedcode/data"
    labels = set()
    kinds = set()
    for path in sorted([*data.glob("licenses/*.LICENSE"), *data.glob("rules/*.RULE")]):
        head, body = re.match(r"---\n(.*?)\n---\n?(.*)", path.read_text(errors="replace"), re.S).groups()
        licence = re.search(r"^(?:key|license_expression): (.*)", head, re.M)
        is_licence = path.suffix == ".LICENSE"
        is_a = flags(head)
        body = body.strip()
        if is_licence and is_a & {"generic", "unknown"}:
            kinds.add(licence[1])
        is_text = (is_licence or bool(is_a & {"license_text", "license_notice"})) and len(body) >= 100
        is_labelled = is_licence or any(name.startswith("license_") for name in is_a - {"license_clue"})
        if licence and is_labelled and "false_positive" not in is_a and len(body) >= 20:
            known.write("\t".join([path.name, licence[1].strip(), str(is_text), field(body)]) + "\n")
            if is_text:
                labels.add(licence[1].strip())

    for path in sorted((checkout / "tests/licensedcode/data/datadriven").rglob("*.yml")):
        labelled = path.with_suffix("")
        found = re.search(r"^license_expressions:\n((?: *- .*\n?)+)", path.read_text(), re.M)
        if not found or not labelled.is_file():
            continue
        licences = re.findall(r"- (.*)", found[1])
        body = labelled.read_bytes().decode(errors="replace")
        if len(licences) == 1 and licences[0] in labels and " " not in licences[0] and len(body) >= 300:
            files.write("\t".join([labelled.name, licences[0], str(licences[0] not in kinds), field(body)]) + "\n")


def of_spdx(checkout, known, files):
    labels = set()
    for path in sorted(checkout.glob("src/**/*.xml")):
        (licence,) = xml.etree.ElementTree.parse(path).getroot()
        if not licence.get("deprecatedVersion"):
            labels.add(path.stem)
            text = " ".join(licence.find("{*}text").itertext())
            known.write("\t".join([path.stem, path.stem, "True", field(text)]) + "\n")
    for path in sorted(checkout.glob("test/simpleTestForGenerator/*.txt")):
        if path.stem in labels:
            files.write("\t".join([path.stem, path.stem, "True", field(path.read_text(errors="replace"))]) + "\n")


checkout, folder = map(pathlib.Path, sys.argv[1:])
with open(folder / "known.tsv", "w") as known, open(folder / "file.tsv", "w") as files:
    (of_scancode if (checkout / "src/licensedcode").is_dir() else of_spdx)(checkout, known, files)

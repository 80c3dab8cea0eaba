"""Writes the programs of IR-Plag, as COPY reads them: case, level, body. Usage: code.py CHECKOUT

Levels 1 to 6 are copies: comments and layout, names, declarations, methods, statements, and logic were changed. Level 0 is
the original, 7 an independent solution.
"""

import pathlib
import re
import sys
import zipfile

with zipfile.ZipFile(pathlib.Path(sys.argv[1]) / "IR-Plag-Dataset.zip") as archive:
    for name in sorted(archive.namelist()):
        found = re.search(r"case-(\d+)/(original|non-plagiarized|plagiarized/L(\d))/.*\.java$", name)
        if found:
            level = found[3] or {"original": 0, "non-plagiarized": 7}[found[2]]
            body = archive.read(name).decode(errors="replace")
            print(found[1], level, body.translate({92: "\\\\", 9: "\\t", 10: "\\n", 13: "\\r"}), sep="\t")

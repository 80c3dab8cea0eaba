"""Texts that come in families, such as the manual pages of the commands of one program, and which of them each rule deletes.

`families.py texts CACHE "OLD NEW" FOLDER` writes each set as FOLDER/SET.texts, as COPY reads it (number and text), and
FOLDER/SET.keys, which has a line for each text, with what it is about, and after a tab what it belongs to, if this is known.
CACHE has the manual pages of families.packages in two releases of Debian. Texts with the same key are versions of each
other; any others are not, even if they are near.

`families.py statements README FOLDER` writes the documentation's statements, and those by both codes, to FOLDER/RULE.statement.

`families.py peers FOLDER SET` writes what datasketch deletes of a set to FOLDER/SET.RULE.deleted, as the statements do: number,
and number of the keeper.

`families.py table FOLDER` prints what was right, and what was found.
"""

import gzip
import hashlib
import pathlib
import random
import re
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE / "compare"), str(HERE / "similarity_index")]
import natural  # noqa: E402
from decision import normal  # noqa: E402
from documents import SENTENCE, WORD  # noqa: E402

LEAST = 150  # characters of a text
CLOUD_PAGES = 9000
LETTERS, TEMPLATES, TEMPLATE_WORDS = 4000, 30, 120
RENAMED = {
    "ioctl_ficlonerange.2": "FICLONE.2",
    "ioctl_fideduperange.2": "FIDEDUPERANGE.2",
    "ioctl_fslabel.2": "FS_IOC_SETFSLABEL.2",
    "ioctl_getfsmap.2": "ioctl_fsmap.2",
    "ioctl_iflags.2": "FS_IOC_SETFLAGS.2",
    "ioctl_ns.2": "NS_GET_USERNS.2",
    "kubectl-alpha-debug.1": "kubectl-debug.1",
}
BY_CODES = """
WITH c AS (
    SELECT id, near_cluster(id, si, 18, rare_code(body, (SELECT weights || '' FROM rarity)), {}) OVER (ORDER BY id) AS keeper FROM document)
DELETE FROM document USING c WHERE document.id = c.id AND keeper <> c.id RETURNING document.id, keeper;
"""
THRESHOLDS = [70, 80, 85]
LESS = 14  # hundredths by which a score may be lower where no text has siblings
RULES = {
    "score": "README's statement, score >= 0.76",
    **{f"score-{threshold}": f"the same statement, >= 0.{threshold}" for threshold in THRESHOLDS},
    "score-always": "the same for all pairs, >= 0.76",
    "contained": "README's statement that loses no word",
    "rare-30": "both codes, rare <= 30",
    "rare-50": "both codes, rare <= 50",
    "datasketch-1": "datasketch at 0.8, words",
    "datasketch-5": "datasketch at 0.8, 5 words",
}


def name_of(path):
    """The name of a manual page, and the digit of its section.

    Debian's docker.io documents some commands by two names, and some pages have another name in the newer release."""
    name = re.sub(r"(\.\d)[^.]*\.gz$", r"\1", path.rsplit("/", 1)[1])
    return RENAMED.get(name) or re.sub(r"^docker-(container|image|builder)-(?=\w)", "docker-", name)


def cloud_name_of(path):
    """The command of a page: alpha, beta and preview releases have the same ones, and three groups have been renamed."""
    name = re.sub(r"_(alpha|beta|preview)(?=_)", "", path.name.removesuffix(".gz"))
    for old, new in [("_container_hub", "_container_fleet"), ("_ml-engine", "_ai-platform"), ("_bigtable_instances_tables", "_bigtable_tables")]:
        name = name.replace(old, new)
    return name


def release_pages(cache, releases, sections):
    for release in releases:
        for path, (_, text) in natural.pages(cache / release / "pages", "en").items():
            if re.match(f"man[{sections}]", path):
                yield name_of(path), text


def descriptions(cache, releases):
    """Title and description of packages, of every sixth source package. A number in the name may be that of a version."""
    for release in releases:
        texts, sources = natural.descriptions(cache / release / "lists", ["en"])
        for package, (title, body) in texts["en"].items():
            source = re.sub(r"[\d.]+", "", sources.get(package, package))
            if hashlib.sha256(source.encode()).digest()[0] % 6 == 0:
                yield re.sub(r"\d[\d.]*", "#", package) + f"\t{source}", f"{title}.\n{body}"


def cloud_pages():
    """Random pages of the google-cloud-cli, where it is installed."""
    files = [file for file in pathlib.Path("/usr/share/man/man1").glob("gcloud_*.1*") if not file.is_symlink()]
    for file in sorted(files, key=lambda file: hashlib.sha256(file.name.encode()).digest())[:CLOUD_PAGES]:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8", errors="replace") as page:
            yield cloud_name_of(file), natural.plain(page.read())


def letters(sentences):
    """Letters that differ in the name of the person. Every third one is sent again, with a change."""
    chance = random.Random(1)
    words = sorted({word for sentence in sentences for word in WORD.findall(sentence) if re.fullmatch("[a-z]{3,}", word)})
    names = [word.capitalize() for word in chance.sample(words, 2000)]
    templates = []
    for _ in range(TEMPLATES):
        body = []
        while sum(len(sentence.split()) for sentence in body) < TEMPLATE_WORDS:
            body.append(chance.choice(sentences))
        templates.append(body)
    for number in range(LETTERS * 3 // 4):
        letter = [f"Dear {chance.choice(names[:400])} {chance.choice(names)},", *chance.choice(templates)]
        yield str(number), " ".join(letter)
        if number % 3 == 0:
            yield str(number), " ".join(changed(chance, letter, sentences, words))


def changed(chance, letter, sentences, words):
    place, change = chance.randrange(1, len(letter)), chance.randrange(4)
    if change == 0:
        return letter[:place] + letter[place + 1 :]
    if change == 1:
        return [*letter, chance.choice(sentences)]
    if change == 2:
        return [chance.choice(["Copy of our letter.", "Reminder!", "Sent again by mail."]), *letter]
    sentence = letter[place].split()
    sentence[chance.randrange(len(sentence))] = chance.choice(words)
    return [*letter[:place], " ".join(sentence), *letter[place + 1 :]]


def write_texts(cache, releases, folder):
    cache, releases = pathlib.Path(cache), releases.split()
    commands = list(release_pages(cache, releases, "18"))
    sentences = sorted({" ".join(sentence.split()) for _, text in commands for sentence in SENTENCE.findall(text)})
    sets = {"commands": commands, "functions": release_pages(cache, releases, "23"), "google-cloud-cli": cloud_pages(), "letters": letters(sentences),
            "descriptions": descriptions(cache, releases)}
    for name, texts in sets.items():
        seen = set()
        with open(f"{folder}/{name}.texts", "w", encoding="utf-8") as rows, open(f"{folder}/{name}.keys", "w", encoding="utf-8") as keys:
            for key, text in texts:
                text = " ".join(text.replace("\\", " ").replace("\0", "").split())
                digest = hashlib.sha256(normal(text).encode()).digest()
                # Equal texts are found by anything.
                if len(text) >= LEAST and digest not in seen:
                    print(len(seen), text, sep="\t", file=rows)
                    print(key, file=keys)
                    seen.add(digest)
        if not seen:
            print(f"left out: {name}, of which there are no pages here", file=sys.stderr)
            pathlib.Path(f"{folder}/{name}.texts").unlink()


def write_statements(readme, folder):
    section = re.search(r"### Delete duplicates in one statement\n(.*?)\n## ", pathlib.Path(readme).read_text(), re.DOTALL)[1]
    statements = [statement + ";\n" for block in re.findall(r"```sql\n(.*?)```", section, re.DOTALL) for statement in block.split(";\n")]
    for name, content in [("weights", "CREATE TABLE"), ("score", "version_score"), ("contained", "text_containment")]:
        (statement,) = (statement for statement in statements if content in statement)
        pathlib.Path(f"{folder}/{name}.statement").write_text(statement)
    score = pathlib.Path(f"{folder}/score.statement").read_text()
    for threshold in THRESHOLDS:
        changed_score = score.replace(">= 0.76", f">= 0.{threshold}").replace(">= 0.62", f">= 0.{threshold - LESS}")
        pathlib.Path(f"{folder}/score-{threshold}.statement").write_text(changed_score)
    pathlib.Path(f"{folder}/score-always.statement").write_text(score.replace(" OR least(a.score, b.score) >= 0.62", ""))
    for radius in (30, 50):
        pathlib.Path(f"{folder}/rare-{radius}.statement").write_text(BY_CODES.format(radius))


def features(text, length):
    words = WORD.findall(text.lower())
    return {" ".join(words[at : at + length]).encode() for at in range(max(len(words) - length + 1, 1))}


def write_peers(folder, name):
    from datasketch import MinHash, MinHashLSH

    with open(f"{folder}/{name}.texts", encoding="utf-8") as rows:
        texts = [row.rstrip("\n").split("\t")[1] for row in rows]
    for length in (1, 5):
        start = time.process_time()
        index = MinHashLSH(threshold=0.8, num_perm=128)
        with open(f"{folder}/{name}.datasketch-{length}.deleted", "w") as deleted:
            for number, text in enumerate(texts):
                signature = MinHash(num_perm=128)
                signature.update_batch(features(text, length))
                if keepers := index.query(signature):
                    print(number, *keepers, file=deleted)
                else:
                    index.insert(number, signature, check_duplication=False)
        pathlib.Path(f"{folder}/{name}.datasketch-{length}.seconds").write_text(str(time.process_time() - start))


def print_table(folder):
    """A deletion is right if one of its keepers is a version of it: datasketch may return several."""
    print("right deletions / versions found, in percent, and seconds of processor time")
    for file in sorted(pathlib.Path(folder).glob("*.texts")):
        name = file.stem
        keys, *wholes = zip(*(line.split("\t") for line in file.with_suffix(".keys").read_text().split("\n")[:-1]))
        versions = len(keys) - len(set(keys))
        print(f"\n{name}: {len(keys):,} texts of {file.stat().st_size // len(keys):,} bytes, {versions:,} versions")
        for rule, title in RULES.items():
            rows = [[int(number) for number in row.split()] for row in pathlib.Path(f"{folder}/{name}.{rule}.deleted").read_text().splitlines()]
            right = sum(keys[number] in {keys[keeper] for keeper in keepers} for number, *keepers in rows)
            seconds = float(pathlib.Path(f"{folder}/{name}.{rule}.seconds").read_text())
            print(f"  {title:40} {100 * right / max(len(rows), 1):5.1f} / {100 * right / versions:4.1f}   {len(rows):6,} deleted  {seconds:6.1f} s", end="")
            for whole in wholes:
                related = sum(whole[number] in {whole[keeper] for keeper in keepers} for number, *keepers in rows)
                print(f"  {100 * related / max(len(rows), 1):5.1f} of the same source", end="")
            print()


if __name__ == "__main__":
    {"texts": write_texts, "statements": write_statements, "peers": write_peers, "table": print_table}[sys.argv[1]](*sys.argv[2:])

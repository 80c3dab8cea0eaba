"""Numbers that must not increase: the numbers of a file are compared with those of all its earlier commits."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def earlier_versions(path, rule):
    """The contents of a file in each commit in which it had this sentence; none outside of a checkout."""
    def git(*arguments):
        return subprocess.run(['git', *arguments], cwd=ROOT, capture_output=True, text=True).stdout

    commits = git('log', '--format=%H', '--full-history', '--', path).split()
    return [text for text in (git('show', f'{commit}:./{path}') for commit in commits) if rule in text]


def raised(path, rule, read):
    """The names of the numbers that are higher now than in any earlier version. `rule` is a sentence of the file that
    earlier versions with another rule lack, and `read` finds the numbers in the contents.
    """
    earlier = [item for text in earlier_versions(path, rule) for item in read(text).items()]
    now = read((ROOT / path).read_text(encoding='utf-8'))
    return sorted({name for name, number in earlier if now.get(name, number) > number})

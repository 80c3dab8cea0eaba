"""Numbers that only fall: those of a file are compared with all that it had before, in the history of git."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What such a file says of itself. Versions without it had another rule.
RULE = 'These numbers only fall'


def earlier_versions(path):
    """The contents of a file in each commit that changed it under the rule; none outside of a checkout."""
    def git(*arguments):
        return subprocess.run(['git', *arguments], cwd=ROOT, capture_output=True, text=True).stdout

    commits = git('log', '--format=%H', '--full-history', '--', path).split()
    return [text for text in (git('show', f'{commit}:./{path}') for commit in commits) if RULE in text]


def raised(path, read):
    """The names of the numbers that are higher now than in any earlier version. `read` finds them in the contents."""
    earlier = [item for text in earlier_versions(path) for item in read(text).items()]
    now = read((ROOT / path).read_text(encoding='utf-8'))
    return sorted({name for name, number in earlier if now.get(name, number) > number})

"""The generated files of the repository: `tox -e docs -- --write`, or without tox
`python -m tests.support.documents [--write | --check]`.

It makes all generated parts of documents and catalogues anew, and then looks whether every link
between files leads to a file, and to a heading of it where the link names one. It names what is
wrong, and ends with status 1 for a dead link, and with `--check` also for a page whose generated
part was not up to date.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# The modules that make a page, or a part of one.
MAKERS = (
    "tests.support.guides",
    "tests.support.api_pages",
    "tests.support.calls_table",
    "tests.support.checks_table",
    "tests.support.commands_table",
    "tests.support.conformance",
    "tests.support.doctor_schema",
    "tests.support.floors_table",
    "tests.support.glossary",
    "tests.support.metrics_table",
    "tests.support.openapi_sample",
    "tests.support.settings_table",
    "locales.extract",
)
GENERATED = ("docs/**/*.json", "tests/support/samples/openapi.json", "locales/*.po*")

_FENCED = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\]\(([^)\s]*)(?: \"[^\"]*\")?\)")
_ELSEWHERE = re.compile(r"[a-z]+:")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_LINK_TEXT = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def pages(root: Path) -> list[Path]:
    """Every Markdown file that is written for readers."""
    patterns = ("*.md", "docs/**/*.md", "examples/**/*.md", ".github/**/*.md")
    return sorted(page for pattern in patterns for page in root.glob(pattern))


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them: a repeated heading gets a number."""
    seen: dict[str, int] = {}
    anchors = set()
    for text in _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        plain = _LINK_TEXT.sub(r"\1", text).lower()
        anchor = re.sub(r"[^\w -]", "", plain).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        anchors.add(f"{anchor}-{count}" if count else anchor)
    return anchors


def dead_links(root: Path) -> list[str]:
    """Each link that leads to no file, or to no heading of a page, with the page it is on."""
    return [
        f"{page.relative_to(root)}: {link}"
        for page in pages(root)
        for link in _LINK.findall(_CODE.sub("", _FENCED.sub("", page.read_text(encoding="utf-8"))))
        if not _ELSEWHERE.match(link) and not _leads_somewhere(page, link)
    ]


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    if not link or not target.exists():
        return False
    return not anchor or (target.suffix == ".md" and anchor in headings(target))


def make(root: Path) -> list[str]:
    """Make the generated parts anew; the files that have changed, come or gone by that."""
    before = _generated(root)
    for name in MAKERS:
        subprocess.run([sys.executable, "-m", name], cwd=root, check=True)
    after = _generated(root)
    changed = [file for file in before | after if before.get(file) != after.get(file)]
    return sorted(str(file.relative_to(root)) for file in changed)


def _generated(root: Path) -> dict[Path, bytes]:
    others = (file for pattern in GENERATED for file in root.glob(pattern))
    return {file: file.read_bytes() for file in (*pages(root), *others)}


def main(arguments: list[str]) -> int:
    changed, dead = make(ROOT), dead_links(ROOT)
    for name in changed:
        print(f"{name}: made anew")
    for link in dead:
        print(f"{link}: leads nowhere")
    return int(bool(dead or (changed and "--check" in arguments)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

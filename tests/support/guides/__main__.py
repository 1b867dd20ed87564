"""`python -m tests.support.guides [--check] [DIRECTORY]` writes the integration guides.

The directory is docs/how-to/integrate of the working directory unless it is named. With `--check`
nothing is written, and the status is 1 if a page differs from what would be written, is missing,
or belongs to no preset.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.support import guides

DIRECTORY: Final = Path("docs", "how-to", "integrate")


def outdated(directory: Path) -> list[str]:
    """Returns the names of the pages that are not as they would be written."""
    pages = guides.pages()
    existing_pages = {
        file.name: file.read_text(encoding="utf-8") for file in directory.glob("*.md")
    }
    return sorted(
        name
        for name in pages.keys() | existing_pages
        if pages.get(name) != existing_pages.get(name)
    )


def write(directory: Path) -> None:
    """Writes every page, and removes those of presets that no longer exist."""
    pages = guides.pages()
    directory.mkdir(parents=True, exist_ok=True)
    for name in outdated(directory):
        if name in pages:
            (directory / name).write_text(pages[name], encoding="utf-8")
        else:
            (directory / name).unlink()


def main(arguments: Sequence[str]) -> int:
    """Runs the program with these arguments, and returns its exit status."""
    parser = argparse.ArgumentParser("python -m tests.support.guides")
    parser.add_argument("directory", nargs="?", type=Path, default=DIRECTORY)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    if not options.check:
        write(options.directory)
        return 0
    differing = outdated(options.directory)
    for name in differing:
        print(f"{options.directory / name}: differs from its preset")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

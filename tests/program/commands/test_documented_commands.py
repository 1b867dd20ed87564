"""The shell blocks of pages run as they stand, one after the other, in an empty directory beside a
running service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import patience

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", "docs/reference/management.md"]
PAGES += [f"docs/tutorials/{name}.md" for name in ("first-sign-in", "flask", "nextjs")]
_BLOCK = re.compile(r"^```sh\n(.+?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[str]:
    return _BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def run(script: str, directory: Path) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=directory,
        env={"PATH": programs},
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )


@pytest.mark.parametrize("page", PAGES)
def test_the_shell_blocks_of_a_page_run_verbatim(start_program, tmp_path, page):
    program = start_program("--admin-pat", "admin.pat")
    script = "\n".join(blocks(page)).replace("http://localhost:8080", program.issuer)

    done = run(script, tmp_path)

    assert done.returncode == 0, done.stderr
    assert "clientSecret" in done.stdout or page != "README.md"


def test_each_page_has_blocks_that_are_run():
    assert [bool(blocks(page)) for page in PAGES] == [True] * len(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_what_is_typed_at_a_shell_is_in_a_block_that_is_run(page):
    """Other fences hold what starts the service or the tests, and what is printed."""
    text = _BLOCK.sub("", (ROOT / page).read_text(encoding="utf-8"))

    assert not re.findall(r"^(?:    )?(?:curl|idp (?!0\.|serve)\S+) .*$", text, re.MULTILINE)

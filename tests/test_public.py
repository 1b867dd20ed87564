"""The tests of the public profile, `tox -e public`: none of them is left out."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from tests import conftest

ROOT = Path(__file__).parents[1]
_MARK = re.compile(r"\bmark\.public\b")


def folders():
    """The folders that `tox -e public` collects."""
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    (names,) = re.findall(r"{posargs:([^}]*)}", parser["testenv:public"]["commands"])
    return [ROOT / name for name in names.split()]


def test_a_test_of_the_public_profile_lies_in_a_folder_that_is_collected():
    files = {path for path in (ROOT / "tests").rglob("test_*.py") if conftest.is_public(path)}
    outside = {path for path in files if not set(path.parents) & set(folders())}

    assert len(files) > 30
    assert not outside
    assert all(any(folder in path.parents for path in files) for folder in folders())


def test_only_the_conftest_marks_a_test_for_the_public_profile():
    sources = (ROOT / "tests").rglob("test_*.py")

    assert not [path for path in sources if _MARK.search(path.read_text(encoding="utf-8"))]

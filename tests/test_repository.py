"""The files around the code: releases, reports, hosted checks, and what an installation pins."""

from __future__ import annotations

import re

import pytest

from tests.test_house import ROOT, listed, read

TYPED = ["handlers", "idp", "storage"]

_OPTION = re.compile(r"(?:^|\s)(-[^\s=]*)")


def options(requirements):
    """Every option of a requirements file, also behind a requirement."""
    lines = [line for line in requirements.splitlines() if not line.lstrip().startswith("#")]
    return {option for line in lines for option in _OPTION.findall(line)}


# Installations


def test_what_is_deployed_says_nothing_of_where_packages_come_from():
    text = read("requirements/deploy.txt")

    assert options(text) == {"--hash"}
    assert "://" not in text


@pytest.mark.parametrize(
    "line",
    ["--find-links wheels", "-f wheels", "idp==1 --trusted-host=x", "  --pre", "-e ."],
)
def test_an_option_is_found_wherever_it_is(line):
    assert options(f"# --pre\na==1 \\\n    --hash=sha256:00\n{line}\n") > {"--hash"}


@pytest.mark.parametrize("package", TYPED)
def test_an_installed_package_says_that_it_has_types(package):
    marker = ROOT / package / "py.typed"

    assert marker.read_bytes() == b""
    assert "py.typed" in listed("options.package_data", package)

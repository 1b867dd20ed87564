"""docs/reference/management.md has every call of the API, with the permission that it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from idp.identity.users.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from tests.support import calls_table

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "management.md"
ROWS = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]


def test_the_page_describes_every_call():
    assert PAGE.read_text("utf-8") == calls_table.page(), "run python -m tests.support.calls_table"


@pytest.mark.parametrize("role", [*INSTANCE_ROLES, *ORGANIZATION_ROLES])
def test_a_role_has_a_row(role):
    assert any(row.startswith(f"| `{role}` |") for row in ROWS)

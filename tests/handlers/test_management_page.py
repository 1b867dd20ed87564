"""docs/management.md tells of every call of the API, with the permission that it takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from handlers.api import ApiHandler
from handlers.app import ROUTES
from idp.identity.permissions import INSTANCE_ROLES, ORGANIZATION_ROLES
from tests.support.api_samples import first_alternative

PAGE = Path(__file__).parents[2] / "docs" / "management.md"
ROWS = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
CALLS = [
    (first_alternative(route), method.upper(), handler.permission_of(method.upper()))
    for route, handler in ROUTES
    if issubclass(handler, ApiHandler)
    for method in ("get", "post", "put", "patch", "delete")
    if method in vars(handler)
]


@pytest.mark.parametrize(("route", "method", "permission"), CALLS)
def test_a_call_stands_in_a_row_with_its_permission(route, method, permission):
    address = re.escape(route).replace(re.escape("([^/]+)"), r"\{\w+\}")
    found = [row for row in ROWS if re.search(rf"`{address}`", row) and method in row]

    assert found
    assert all(f"`{permission}`" in row for row in found)


@pytest.mark.parametrize("role", [*INSTANCE_ROLES, *ORGANIZATION_ROLES])
def test_a_role_stands_in_a_row(role):
    assert any(row.startswith(f"| `{role}` |") for row in ROWS)

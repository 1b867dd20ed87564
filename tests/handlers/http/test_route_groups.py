"""The group of each route: which requests share places."""

from __future__ import annotations

import pytest

from handlers import api, app
from handlers.pages import not_found, test_mode
from idp.api import OPERATIONS
from idp.limits import admission

ROUTES = [*app.ROUTES, *app.LOCAL_ROUTES, *test_mode.ROUTES, *api.ROUTES]
HANDLERS = {path: handler for path, handler, *_ in reversed(ROUTES)}

PUBLIC = ("/.well-known/", "/oauth/v2/keys", "/ui/static/", "/ui/brand/")
PROTOCOL = (
    "/oauth/v2/token",
    "/oauth/v2/introspect",
    "/oauth/v2/revoke",
    "/oauth/v2/par",
    "/oauth/v2/device_authorization",
    "/oidc/v1/userinfo",
    "/test/",
)
MANAGEMENT = (
    "/admin/",
    "/management/",
    "/v2/",
    "/assets/",
    "/ui/console",
    "/docs",
    "/openapi.json",
)
HEALTH = ("/healthz", "/readyz", "/debug/")
BULK = ("/ui/console/users.csv",)


def expected(path):
    """The group of a route by its path; what nothing else is named for is a page."""
    for group, prefixes in (
        (admission.BULK, BULK),
        (admission.PUBLIC, PUBLIC),
        (admission.PROTOCOL, PROTOCOL),
        (admission.MANAGEMENT, MANAGEMENT),
        (admission.HEALTH, HEALTH),
    ):
        if path.startswith(prefixes):
            return group
    return admission.PAGES


@pytest.mark.promise("overload: groups")
def test_every_route_belongs_to_the_group_of_its_kind():
    wrong = {
        path: handler.group.name
        for path, handler in HANDLERS.items()
        if handler.group is not expected(path)
    }

    assert len(HANDLERS) > 100
    assert wrong == {}
    assert not_found.MissingHandler.group is admission.PAGES


def test_imports_and_exports_are_bulk_and_no_other_operation_is():
    bulk = {each.name for each in OPERATIONS if each.is_bulk}

    assert bulk == {"import_call_take", "export_call_make"}

"""Status and challenge where a client does not authenticate (RFC 6749 5.2)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from idp.oauth.paths import DEVICE_AUTHORIZATION, INTROSPECT, PAR, REVOKE, TOKEN
from idp.records import APPLICATIONS, ORGANIZATIONS
from storage import Update
from tests.support.protocol.answers import assert_granted, assert_refused
from tests.support.protocol.asserting import ASSERTION_TYPE

ENDPOINTS = [TOKEN, PAR, DEVICE_AUTHORIZATION, REVOKE, INTROSPECT]
REQUEST = {"grant_type": "client_credentials", "token": "t"}
WITHOUT_HEADER = {
    "a secret": {"client_id": "x", "client_secret": "wrong"},
    "a secret alone": {"client_secret": "wrong"},
    "no credentials": {},
    "a client_id alone": {"client_id": "x"},
    "an empty secret": {"client_id": "x", "client_secret": ""},
    "an assertion": {"client_assertion": "e30.e30.e30", "client_assertion_type": ASSERTION_TYPE},
}
HEADERS = {"a wrong Basic header": "Basic eDp5", "another scheme": "Bearer x", "no scheme": ""}


@pytest.mark.promise("token endpoint: invalid_client", "introspection: 401")
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("name", WITHOUT_HEADER)
async def test_a_client_without_the_header_is_refused_without_a_challenge(visitor, path, name):
    page = await visitor.post(path, REQUEST | WITHOUT_HEADER[name])

    status = 401 if path == INTROSPECT else 400
    assert_refused(page, status, "invalid_client", is_challenged=False)
    assert "WWW-Authenticate" not in page.headers


@pytest.mark.promise("token endpoint: invalid_client", "introspection: 401")
@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize("name", HEADERS)
async def test_a_header_is_refused_with_a_challenge(visitor, path, name):
    page = await visitor.post(path, REQUEST, headers={"Authorization": HEADERS[name]})

    assert_refused(page, 401, "invalid_client", is_challenged=True)


@pytest.mark.parametrize("is_in_form", [False, True])
async def test_a_client_that_proved_itself_but_is_not_active_gets_the_status_of_its_method(
    server, visitor, is_in_form
):
    method = "client_secret_post" if is_in_form else "client_secret_basic"
    party = await server.register(auth_method=method, grant_types=["client_credentials"])
    secret = {"client_id": party.client_id, "client_secret": party.client_secret}
    headers, form = ({}, REQUEST | secret) if is_in_form else (party.basic(), REQUEST)
    assert_granted(await visitor.post(TOKEN, form, headers=headers))
    client = await server.store.get(APPLICATIONS, party.client_id)
    change = Update(ORGANIZATIONS, client.org_id, set={"state": "inactive"})
    await server.store.commit(change)

    page = await visitor.post(TOKEN, form, headers=headers)

    assert_refused(page, 400 if is_in_form else 401, "invalid_client")


@pytest.mark.promise("token endpoint: form and JSON")
@pytest.mark.parametrize("path", ENDPOINTS)
async def test_a_form_with_another_charset_is_read_at_every_endpoint(server, visitor, path):
    party = await server.register(auth_method="client_secret_post")
    form = REQUEST | {"client_id": party.client_id, "client_secret": "wrong"}
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=ISO-8859-1"}

    page = await visitor.post(path, content=urlencode(form), headers=headers)

    assert page.json()["error"] == "invalid_client"

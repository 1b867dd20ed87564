"""Token exchange: what is refused, with which error, and that nothing is written."""

from __future__ import annotations

import pytest

from tests.support.protocol.answers import assert_refused
from tests.support.protocol.exchanging import (
    ACCESS,
    GRANT,
    ID,
    JWT,
    REFRESH,
    USER_ID,
    Ground,
    switch,
)
from tests.support.store.stored import everything


def own(ground: Ground, **form) -> dict:
    """A request that would be granted, but for what the form changes."""
    subject = {"subject_token": ground.tokens["access_token"], "subject_token_type": ACCESS}
    return {"grant_type": GRANT} | subject | form


def subject(token: str, type: str = ACCESS, **form):
    return {"subject_token": token, "subject_token_type": type} | form


REQUESTS = {
    # what is sent: the error, and what it says
    "a resource": (
        lambda g: own(g, resource="https://api.example"),
        "invalid_target",
        "resource is not supported",
    ),
    "a resource before all else": (
        lambda g: {"grant_type": GRANT, "resource": "https://api.example"},
        "invalid_target",
        "resource is not supported",
    ),
    "no subject": (
        lambda g: own(g, subject_token=None),
        "invalid_request",
        "subject_token is missing",
    ),
    "no type": (
        lambda g: own(g, subject_token_type=None),
        "invalid_request",
        "subject_token_type is missing",
    ),
    "an empty subject": (
        lambda g: own(g, subject_token=""),
        "invalid_request",
        "subject_token is missing",
    ),
    "an actor without type": (
        lambda g: own(g, actor_token=g.of_bob["access_token"]),
        "invalid_request",
        "actor_token_type is missing",
    ),
    "a type without actor": (
        lambda g: own(g, actor_token_type=ACCESS),
        "invalid_request",
        "actor_token_type was sent without actor_token",
    ),
    "a refresh token": (
        lambda g: own(g, **subject(g.tokens["refresh_token"], REFRESH)),
        "invalid_request",
        "subject_token_type is not supported",
    ),
    "an actor's refresh token": (
        lambda g: own(g, actor_token=g.of_bob["refresh_token"], actor_token_type=REFRESH),
        "invalid_request",
        "actor_token_type is not supported",
    ),
    "a refresh token wanted": (
        lambda g: own(g, requested_token_type=REFRESH),
        "invalid_request",
        "requested_token_type is not supported",
    ),
    "a type of SAML": (
        lambda g: own(g, subject_token_type="urn:ietf:params:oauth:token-type:saml2"),
        "invalid_request",
        "subject_token_type is not supported",
    ),
    "a type of another vendor": (
        lambda g: own(
            g, **subject(g.ann, "urn:zitadel:params:oauth:token-type:user_id"), **g.by_bob
        ),
        "invalid_request",
        "subject_token_type is not supported",
    ),
    "a type by its last word": (
        lambda g: own(g, subject_token_type="access_token"),
        "invalid_request",
        "subject_token_type is not supported",
    ),
    "a JWT as actor": (
        lambda g: own(g, actor_token=g.keyed.assertion(sub=g.bob), actor_token_type=JWT),
        "invalid_request",
        "actor_token_type is not supported",
    ),
    "a user id as actor": (
        lambda g: own(g, actor_token=g.bob, actor_token_type=USER_ID),
        "invalid_request",
        "actor_token_type is not supported",
    ),
    "a JWT without actor": (
        lambda g: own(g, **subject(g.keyed.assertion(sub=g.ann), JWT)),
        "invalid_request",
        "actor_token invalid",
    ),
    "a user id without actor": (
        lambda g: own(g, **subject(g.ann, USER_ID)),
        "invalid_request",
        "actor_token invalid",
    ),
    "an actor who is the subject": (
        lambda g: own(g, **subject(g.bob, USER_ID), **g.by_bob),
        "invalid_request",
        "actor_token invalid",
    ),
    "one token as both": (
        lambda g: own(g, actor_token=g.tokens["access_token"], actor_token_type=ACCESS),
        "invalid_request",
        "actor_token invalid",
    ),
    "an audience of nobody": (
        lambda g: own(g, audience="nobody"),
        "invalid_target",
        "audience is larger than that of the tokens that were sent",
    ),
    "the service itself as audience": (
        lambda g: own(g, audience=g.broker.server.issuer),
        "invalid_target",
        "audience is larger than that of the tokens that were sent",
    ),
    "an audience beside a good one": (
        lambda g: own(g, audience=[g.broker.party.client_id, g.foreign.client_id]),
        "invalid_target",
        "audience is larger than that of the tokens that were sent",
    ),
    "an audience for a JWT's own": (
        lambda g: own(
            g,
            **subject(g.keyed.assertion(sub=g.ann), JWT, audience=g.broker.server.issuer),
            **g.by_bob,
        ),
        "invalid_target",
        "audience is larger than that of the tokens that were sent",
    ),
    "a scope that was not granted": (
        lambda g: own(g, scope="openid email"),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "a scope that does not exist": (
        lambda g: own(g, scope="openid admin"),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "offline_access for an ID token": (
        lambda g: own(g, **subject(g.tokens["id_token"], ID), scope="openid offline_access"),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "roles for an ID token": (
        lambda g: own(
            g,
            **subject(g.tokens["id_token"], ID),
            scope="openid urn:idp:iam:org:projects:roles",
        ),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "the service's audience for a user id": (
        lambda g: own(
            g, **subject(g.ann, USER_ID), **g.by_bob, scope="urn:idp:iam:org:project:id:idp:aud"
        ),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "a scope of spaces": (
        lambda g: own(g, scope="  "),
        "invalid_scope",
        "scope is larger than that of the tokens that were sent",
    ),
    "two subjects": (
        lambda g: own(g, subject_token=[g.tokens["access_token"]] * 2),
        "invalid_request",
        "subject_token was sent more than once",
    ),
    "two types wanted": (
        lambda g: own(g, requested_token_type=[JWT, ID]),
        "invalid_request",
        "requested_token_type was sent more than once",
    ),
}


@pytest.mark.promise(
    "exchange: actor_token_type",
    "exchange: audience",
    "exchange: resource",
    "exchange: invalid_target",
)
@pytest.mark.parametrize(("form", "error", "says"), REQUESTS.values(), ids=REQUESTS.keys())
async def test_a_request_that_asks_wrongly_is_refused(server, ground, form, error, says):
    sent = form(ground)
    before = await everything(server.store)
    page = await ground.broker.party.token(ground.broker.visitor, sent)

    assert_refused(page, 400, error)
    assert page.json()["error_description"] == says
    assert await everything(server.store) == before


@pytest.mark.promise("exchange: not enabled")
async def test_switched_off_it_does_not_exist(server, ground):
    await switch(server, allows_token_exchange=False)
    before = await everything(server.store)
    page = await ground.broker.exchange(ground.tokens["access_token"])

    assert_refused(page, 400, "unsupported_grant_type")
    assert await everything(server.store) == before


async def test_an_application_without_the_grant_may_not(server, ground):
    party = await server.register("Without")
    before = await everything(server.store)
    page = await ground.broker.exchange(ground.tokens["access_token"], party=party)

    assert_refused(page, 400, "unauthorized_client")
    assert await everything(server.store) == before


async def test_the_client_is_checked_before_anything_of_its_request(server, ground):
    before = await everything(server.store)
    page = await ground.broker.exchange(
        None, None, resource="https://api.example", headers={"Authorization": "Basic eDp5"}
    )

    assert_refused(page, 401, "invalid_client")
    assert await everything(server.store) == before

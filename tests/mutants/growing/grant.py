"""A grant that no standard knows: the caller gets a token for itself by saying please."""

from __future__ import annotations

from typing import Any, Final

from idp.oauth.errors import InvalidGrant
from idp.oauth.grants import service_tokens
from idp.oauth.grants.token_request import Grant, TokenRequest
from idp.oauth.refusals import token as checks
from idp.oauth.refusals.check import Check
from idp.oauth.tokens.validity import Client
from idp.records import INSTANCE_ID, INSTANCES, ORGANIZATIONS

POLITE: Final = Check("polite", "the client said please", "good manners", "Say please.")


async def respond(request: TokenRequest) -> dict[str, Any]:
    """An access token of the application's own."""
    service, client = request.service, request.client
    with POLITE:
        if request.params.get("word") != "please":
            raise InvalidGrant("the client did not say please")
    instance, organization = await service.store.get_many(
        [(INSTANCES, INSTANCE_ID), (ORGANIZATIONS, client.org_id)]
    )
    acting = Client(client, organization)
    return await service_tokens.for_application(service, instance, acting, [])


GRANT: Final = Grant(
    respond=respond, checks=(*checks.GRANTED, POLITE), api_name="OIDC_GRANT_TYPE_PLEASE"
)

"""The authorization endpoint: a request's client, and its parameters or the reference to them.

The client and its redirect_uri are checked first; until both are valid every refusal is a page.
From then on every refusal is sent to the client (RFC 6749 4.1.2.1).
"""

from __future__ import annotations

from idp.oauth.endpoints import authorization_request, pushed_authorization
from idp.oauth.endpoints.authorization_request import RecordIgnored
from idp.oauth.endpoints.authorization_response import ReturnTo
from idp.oauth.errors import OAuthError, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.refusals import authorize as checks
from idp.oauth.refusals import details as refusal_details
from idp.oauth.refusals.check import ONCE
from idp.records import APPLICATIONS, Application, AuthRequest
from idp.service import Service


class AuthorizeRefused(Exception):
    """A refused authorization request whose error is sent to the client.

    `to` has the client's registered redirect_uri, and `error` becomes the error response.
    """

    def __init__(self, to: ReturnTo, error: OAuthError) -> None:
        super().__init__(error.description)
        self.to = to
        self.error = error


async def read(
    service: Service, params: Params, record: RecordIgnored
) -> tuple[AuthRequest, Application]:
    """Returns the checked authorization request, not stored yet, and its client.

    `record` is called with the reason if the `id_token_hint` is ignored. Raises `UnusableRequest`
    if there is no registered address to send a response to, and `AuthorizeRefused` for every other
    error.
    """
    client = await _read_client(service, params)
    reference = params.if_once("request_uri")
    if reference is not None and pushed_authorization.is_reference(reference):
        # A pushed request was checked when it was pushed; the browser's other parameters have no
        # effect.
        with checks.REFERENCE:
            return await pushed_authorization.find(service, client, reference), client
    with checks.REDIRECT_URI:
        to = authorization_request.return_to(client, params)
    try:
        with ONCE:
            params.refuse_repeated()
        return await authorization_request.check(service, client, params, to, record), client
    except OAuthError as error:
        raise AuthorizeRefused(to, error) from error


async def _read_client(service: Service, params: Params) -> Application:
    with checks.CLIENT_ONCE:
        # Every response is built from these three, so a repeated one leaves no safe place to
        # redirect to.
        for name in ("client_id", "redirect_uri", "state"):
            if params.is_repeated(name):
                description = f"The parameter {name} was sent more than once."
                raise UnusableRequest("parameter_repeated", description)
    with checks.CLIENT:
        client_id = params.get("client_id")
        if client_id is None:
            raise UnusableRequest("client_id_missing", "The parameter client_id is missing.")
        return await find_client(service, client_id)


async def find_client(service: Service, client_id: str) -> Application:
    """Returns the active client of this id.

    Raises `UnusableRequest`, with the same description for an inactive client as for an unknown
    one.
    """
    client = await service.store.get(APPLICATIONS, client_id) if len(client_id) <= 200 else None
    if client is None or client.state != "active":
        description = "No application has this client_id."
        details = (
            f"The application {refusal_details.named(client)} is not active."
            if client
            else refusal_details.no_client(service.config, client_id)
        )
        raise UnusableRequest("client_unknown", description, sent=client_id, details=details)
    return client

"""The link that begins a sign-in again: an authenticated note in addresses of pages and mails.

The note outlives the sign-in and the browser's cookie, so that a page that cannot continue still
has the application, the language and the branding. It has no secret, and leads only to an address
that is registered for the application, or to a page of the service.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from idp.foundation import base64url, opaque_tokens
from idp.oauth.grants.device_authorization import PAGE as DEVICE
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import Application, AuthRequest
from idp.service import Service

PARAMETER: Final = "start"
_PURPOSE: Final = "continuation"
_MAC_BYTES: Final = 16
_MAX_CHARACTERS: Final = 2000


class Continuation(Struct, frozen=True, array_like=True):
    """The contents of the link that begins a sign-in again.

    `client_id` is that of the application, `org_id` the organization of the branding, and
    `language` that of the pages; `path` is the page of the service that began the sign-in, empty
    if an application did.
    """

    client_id: str
    org_id: str
    language: str
    path: str = ""


def of_flow(service: Service, flow: PendingSignIn, language: str) -> str:
    """Returns the value of the parameter `start` in links that restart this flow's sign-in; `read`
    parses it."""
    return write(service, of_request(service, flow.request, flow.client, language))


def of_request(
    service: Service, request: AuthRequest, client: Application, language: str
) -> Continuation:
    """Returns the continuation of the sign-in for a request of this client, for `write`."""
    path = ""
    if request.is_for_own_page:
        path = request.redirect_uri.removeprefix(service.config.issuer)
    elif request.device_id is not None:
        path = DEVICE
    org_id = request.brand_org_id or client.org_id
    return Continuation(request.client_id, org_id, language, path)


def write(service: Service, continuation: Continuation) -> str:
    """Returns the continuation as a text for an address, authenticated by a MAC and not
    encrypted."""
    text = base64url.encode(msgspec.json.encode(continuation))
    return f"{text}.{_mac(service, text)}"


def read(service: Service, note: str | None) -> Continuation | None:
    """Returns the continuation in a text that `write` returned; None for None, or if this
    installation did not write it."""
    text, _, mac = (note or "")[:_MAX_CHARACTERS].partition(".")
    # Decoded only after this check: the text comes from an address.
    if not opaque_tokens.equal(_mac(service, text), mac):
        return None
    return msgspec.json.decode(base64url.decode(text), type=Continuation)


def _mac(service: Service, text: str) -> str:
    return base64url.encode(service.master_key.mac(_PURPOSE, text)[:_MAC_BYTES])

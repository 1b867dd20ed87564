"""What to tell a developer whose request can't be answered by redirect.

Details go only to whoever may see them: on a loopback issuer, and for an application whose
explanations an administrator turned on for a while. Everybody else gets a number.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from idp.config import Config
from idp.i18n import Message, message
from idp.oauth.errors import Unusable
from idp.records import Application

_CONTEXT: Final = "explain"


def may(config: Config, client: Application | None, now: datetime) -> bool:
    """Whether the details may be shown to whoever opened the page."""
    if config.is_loopback:
        return True
    return bool(client and client.explains_until and now < client.explains_until)


def explanation(refusal: Unusable) -> dict[str, Any]:
    """The values of the explain page: title, sentence, comparisons, rule and fix."""
    title, rule, fix = _TEXTS.get(refusal.slug, _OTHER)
    parameter = _PARAMETERS.get(refusal.slug)
    comparisons = []
    if parameter is not None and refusal.sent is not None:
        comparisons.append(
            {
                "parameter": parameter,
                "sent": refusal.sent,
                "registered": list(refusal.registered),
            }
        )
    return {
        "title": title,
        "sentence": refusal.description,
        "comparisons": comparisons,
        "rule": rule,
        "fix": fix,
    }


_PARAMETERS: Final = {
    "client_unknown": "client_id",
    "redirect_uri_unregistered": "redirect_uri",
    "post_logout_redirect_uri_unregistered": "post_logout_redirect_uri",
}

_EXACT = message(
    "A redirect address must equal a registered one, character by character:"
    " scheme, host, port, path, query and every slash (RFC 6749, 3.1.2.3).",
    context="explain",
)
_ONCE = message("Each parameter is sent at most once (RFC 6749, 3.1).", context="explain")

_OTHER: Final[tuple[Message, Message | None, Message | None]] = (
    message("This request can't be answered", context="explain"),
    None,
    None,
)

_TEXTS: Final[dict[str, tuple[Message, Message | None, Message | None]]] = {
    "parameter_repeated": (
        message("A parameter was sent twice", context="explain"),
        _ONCE,
        message("Send it once.", context="explain"),
    ),
    "client_id_missing": (
        message("The client_id is missing", context="explain"),
        message("Every request names its client (RFC 6749, 4.1.1).", context="explain"),
        message("Add the client_id of your application to the request.", context="explain"),
    ),
    "client_unknown": (
        message("The client_id is unknown", context="explain"),
        message("Only registered, active applications may ask (RFC 6749, 2).", context="explain"),
        message(
            "Copy the client_id from the application's page, or register the application.",
            context="explain",
        ),
    ),
    "redirect_uri_missing": (
        message("The redirect_uri is missing", context="explain"),
        message(
            "Every authorization request says where its answer goes"
            " (OpenID Connect Core, 3.1.2.1).",
            context="explain",
        ),
        message("Add one of the registered redirect addresses to the request.", context="explain"),
    ),
    "redirect_uri_unregistered": (
        message("The redirect_uri is not registered", context="explain"),
        _EXACT,
        message(
            "Send a registered address, or register the one that was sent.", context="explain"
        ),
    ),
    "post_logout_redirect_uri_unregistered": (
        message("The post_logout_redirect_uri is not registered", context="explain"),
        _EXACT,
        message(
            "Send a registered address, or register the one that was sent.", context="explain"
        ),
    ),
    "logout_client_missing": (
        message("Nobody knows whose address that is", context="explain"),
        message(
            "The address after a logout is checked against those of the client that the"
            " id_token_hint or the client_id names (OpenID Connect RP-Initiated Logout, 2).",
            context="explain",
        ),
        message("Send the id_token_hint or the client_id as well.", context="explain"),
    ),
}

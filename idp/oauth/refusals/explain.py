"""The explanation for a developer whose request cannot be answered by redirect.

Details are displayed only to a browser on the computer of a loopback issuer, and for an
application whose explanations an administrator turned on for a while. Every other visitor gets a
number.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.config import urls
from idp.config.settings import Config
from idp.foundation import redaction
from idp.foundation.i18n import Message, message
from idp.oauth.errors import UnusableRequest
from idp.oauth.refusals import safe_display, uri_difference
from idp.oauth.refusals.details import sentence
from idp.oauth.refusals.uri_difference import NOTHING_REGISTERED, english
from idp.records import Application


class Mistake(Struct, frozen=True):
    """The texts of the explain page for one kind of refusal.

    `parameter` is the name of the parameter whose sent and registered values are compared. With
    `is_general` the kind covers several errors, and the refusal's own description is displayed in
    addition.
    """

    title: Message
    sentence: Message
    rule: Message
    fix: Message
    parameter: str | None = None
    is_general: bool = False


def may_explain(
    config: Config, client: Application | None, now: datetime, *, is_local_peer: bool
) -> bool:
    """Returns whether the details of a refusal may be displayed to the sender of the request.

    `client` is the application that it names, None if unknown; `is_local_peer` is whether the
    request came from this computer.
    """
    # A loopback issuer runs on the developer's computer, but other computers may reach its socket.
    if config.is_loopback and is_local_peer:
        return True
    return bool(client and client.explains_until and now < client.explains_until)


def explanation(refusal: UnusableRequest) -> dict[str, Any]:
    """Returns the variables of the explain page's template, by name.

    They are `title`, `sentence`, `hint`, `detail`, `comparisons` (of the sent and registered
    values), `rule` and `fix`.
    """
    mistake = _mistake(refusal)
    comparisons, hint = [], None
    if mistake.parameter is not None and refusal.sent is not None:
        hint = _hint(refusal)
        comparisons.append(
            {
                "parameter": mistake.parameter,
                # An address may carry a secret in its query or its user part.
                "sent": redaction.without_secrets(refusal.sent),
                "registered": list(refusal.registered),
            }
        )
    return {
        "title": mistake.title,
        "sentence": mistake.sentence,
        "hint": hint,
        "detail": Message(refusal.description) if mistake.is_general else None,
        "comparisons": comparisons,
        "rule": mistake.rule,
        "fix": mistake.fix,
    }


def details(refusal: UnusableRequest) -> str:
    """Returns the refusal's details for the administrator, in English.

    For an unregistered address they say where it differs from the nearest registered one.
    """
    mistake = _MISTAKES.get(refusal.error_code, _MALFORMED)
    sentences = [refusal.details or english(mistake.sentence)]
    if mistake.is_general and not refusal.details:
        sentences.append(sentence(refusal.description))
    if refusal.error_code in _COMPARED and refusal.sent is not None:
        nothing = english(NOTHING_REGISTERED)
        sentences.append(uri_difference.difference(refusal.sent, refusal.registered) or nothing)
    return " ".join(sentences)


def fix(refusal: UnusableRequest) -> str:
    """Returns the advice on what to change in the request, in English."""
    return english(_mistake(refusal).fix)


def _mistake(refusal: UnusableRequest) -> Mistake:
    mistake = _MISTAKES.get(refusal.error_code, _MALFORMED)
    return structs.replace(mistake, fix=_ANY_PORT) if _differs_in_port(refusal) else mistake


def _differs_in_port(refusal: UnusableRequest) -> bool:
    """Returns whether the address would be accepted if the application might use any port of a
    loopback address."""
    if refusal.error_code not in _COMPARED or refusal.sent is None:
        return False
    sent = urls.without_loopback_port(refusal.sent)
    return sent is not None and sent in map(urls.without_loopback_port, refusal.registered)


def sent(refusal: UnusableRequest) -> str | None:
    """Returns the refused value in a form for the log, or None if the refusal is about no value.

    A value that may be a secret, such as an unknown client_id, is replaced by its length.
    """
    mistake = _MISTAKES.get(refusal.error_code)
    if mistake is None or mistake.parameter is None or refusal.sent is None:
        return None
    return safe_display.value(mistake.parameter, refusal.sent) or safe_display.length_in_words(
        refusal.sent
    )


def _hint(refusal: UnusableRequest) -> Message | None:
    """Returns how the value differs from what is registered, where that can be recognised."""
    if refusal.error_code == "client_unknown":
        return _SPACES if refusal.sent and refusal.sent != refusal.sent.strip() else None
    if refusal.error_code not in _COMPARED or refusal.sent is None:
        return None
    if not refusal.registered:
        return NOTHING_REGISTERED
    nearest = uri_difference.closest(refusal.sent, refusal.registered)
    return nearest.hint if nearest else None


_SPACES: Final = message(
    "There is a space or a line break before or after the client_id.", context="explain"
)
_COMPARED: Final = {"redirect_uri_unregistered", "post_logout_redirect_uri_unregistered"}
_EXACT: Final = message(
    "A redirect URI must match a registered one exactly: scheme, host, port, path, query"
    " and every slash (RFC 6749, 3.1.2.3).",
    context="explain",
)
_REGISTER: Final = message(
    "Send a registered URI, or register the one that was sent.", context="explain"
)
_ANY_PORT: Final = message(
    "Set loopbackAnyPort so that the application can use this URI with any "
    "port. Or register the URI that was sent.",
    context="explain",
)

_MALFORMED: Final = Mistake(
    title=message("The request can't be read", context="explain"),
    sentence=message("Its parameters are encoded incorrectly.", context="explain"),
    rule=message(
        "Parameters are sent as application/x-www-form-urlencoded, in UTF-8"
        " (RFC 6749, appendix B).",
        context="explain",
    ),
    fix=message("Use a library to encode the parameters.", context="explain"),
    is_general=True,
)

_MISTAKES: Final = {
    "request_malformed": _MALFORMED,
    "parameter_repeated": Mistake(
        title=message("A parameter was sent twice", context="explain"),
        sentence=message("It is unclear which of its values applies.", context="explain"),
        rule=message("Each parameter is sent at most once (RFC 6749, 3.1).", context="explain"),
        fix=message("Send it once.", context="explain"),
        is_general=True,
    ),
    "client_id_missing": Mistake(
        title=message("The client_id is missing", context="explain"),
        sentence=message("The request has no client_id.", context="explain"),
        rule=message("Every request needs a client_id (RFC 6749, 4.1.1).", context="explain"),
        fix=message("Add the client_id of your application to the request.", context="explain"),
    ),
    "client_unknown": Mistake(
        title=message("The client_id is unknown", context="explain"),
        sentence=message("No application has this client_id.", context="explain"),
        rule=message(
            "Only registered, active applications can send requests (RFC 6749, 2).",
            context="explain",
        ),
        fix=message(
            "Copy the client_id from the application's page, or register the application.",
            context="explain",
        ),
        parameter="client_id",
    ),
    "redirect_uri_missing": Mistake(
        title=message("The redirect_uri is missing", context="explain"),
        sentence=message("The request has no redirect_uri.", context="explain"),
        rule=message(
            "Every authorization request needs a redirect_uri (OpenID Connect Core, 3.1.2.1).",
            context="explain",
        ),
        fix=message("Add one of the registered redirect URIs to the request.", context="explain"),
    ),
    "redirect_uri_unregistered": Mistake(
        title=message("The redirect_uri is not registered", context="explain"),
        sentence=message(
            "The redirect_uri is not one that the application registered.", context="explain"
        ),
        rule=_EXACT,
        fix=_REGISTER,
        parameter="redirect_uri",
    ),
    "request_uri_unusable": Mistake(
        title=message("The request_uri can't be used", context="explain"),
        sentence=message(
            "It was used before, has expired, or belongs to another application.",
            context="explain",
        ),
        rule=message(
            "A request_uri is short-lived and works once, for the client that pushed "
            "it (RFC 9126, 2.2 and 4).",
            context="explain",
        ),
        fix=message(
            "Push a new request for each sign-in, and redirect the browser immediately.",
            context="explain",
        ),
    ),
    "post_logout_redirect_uri_unregistered": Mistake(
        title=message("The post_logout_redirect_uri is not registered", context="explain"),
        sentence=message(
            "The post_logout_redirect_uri is not one that the application registered.",
            context="explain",
        ),
        rule=_EXACT,
        fix=_REGISTER,
        parameter="post_logout_redirect_uri",
    ),
    "logout_client_missing": Mistake(
        title=message("The request doesn't identify its application", context="explain"),
        sentence=message(
            "The request has a post_logout_redirect_uri, but neither an id_token_hint nor"
            " a client_id.",
            context="explain",
        ),
        rule=message(
            "The post_logout_redirect_uri must be registered for the client of the"
            " id_token_hint or client_id (OpenID Connect RP-Initiated Logout, 2).",
            context="explain",
        ),
        fix=message("Send the id_token_hint or the client_id as well.", context="explain"),
    ),
    "logout_client_differs": Mistake(
        title=message("The request names two applications", context="explain"),
        sentence=message(
            "The client_id is not the client that the id_token_hint was issued to.",
            context="explain",
        ),
        rule=message(
            "If both are sent, they must name the same client (OpenID Connect RP-Initiated"
            " Logout, 2).",
            context="explain",
        ),
        fix=message(
            "Send an ID token that your application received, or leave out one of the two.",
            context="explain",
        ),
    ),
    "logout_hint_unusable": Mistake(
        title=message("The id_token_hint can't be used", context="explain"),
        sentence=message("It is not an ID token of this service.", context="explain"),
        rule=message(
            "The id_token_hint must be an ID token that this service issued to the "
            "client (OpenID Connect RP-Initiated Logout, 2). Expired ones are "
            "accepted.",
            context="explain",
        ),
        fix=message("Send the ID token unchanged, as it was issued.", context="explain"),
    ),
    "state_too_long": Mistake(
        title=message("The state is too long", context="explain"),
        sentence=message("The state is longer than this service accepts.", context="explain"),
        rule=message(
            "The state is a short value that links the response to the request (OpenID"
            " Connect RP-Initiated Logout, 2).",
            context="explain",
        ),
        fix=message(
            "Send a short random value, and store its data in the application.",
            context="explain",
        ),
        is_general=True,
    ),
}

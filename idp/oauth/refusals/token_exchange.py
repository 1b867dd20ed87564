"""The checks of a token exchange (RFC 8693)."""

from __future__ import annotations

from typing import Final

from idp.oauth.refusals.check import USER_ALLOWED, Check
from idp.oauth.refusals.token import GRANTED

RESOURCE: Final = Check(
    "exchange_resource",
    "no resource was named",
    "RFC 8693, 2.1 and 2.2.2",
    "Leave resource out, and name an audience instead.",
)
TOKENS_SENT: Final = Check(
    "exchange_tokens_sent",
    "each token was sent together with its type",
    "RFC 8693, 2.1",
    "Send subject_token and subject_token_type, and actor_token only with actor_token_type.",
)
TYPES: Final = Check(
    "exchange_types",
    "the types are among those that are taken in their places",
    "RFC 8693, 3",
    "Send an access token or an ID token, and ask for an access token, a JWT or an ID token.",
)
SUBJECT: Final = Check(
    "exchange_subject",
    "subject_token counts, and is meant for this client",
    "RFC 8693, 2.1 and 2.2.2",
    "Send a fresh token that was issued to this client, or to another one of its project.",
)
IMPERSONATION: Final = Check(
    "exchange_impersonation",
    "this installation lets one user act for another",
    "RFC 8693, 1.1 and 2.2.2",
    "Let an administrator of the installation switch impersonation on, or leave the actor out.",
)
ACTOR: Final = Check(
    "exchange_actor",
    "actor_token counts, and is meant for this client",
    "RFC 8693, 2.1 and 2.2.2",
    "Send a fresh access token or ID token of the user who acts.",
)
PERMISSION: Final = Check(
    "exchange_permission",
    "the actor may act for the subject",
    "RFC 8693, 2.2.2",
    "Give the actor an impersonator's role, where the subject is no administrator; "
    "for administrators it takes one of the ADMIN roles.",
)
DEPTH: Final = Check(
    "exchange_depth",
    "not too many exchanges came one after another",
    "RFC 8693, 4.1 and 5",
    "Exchange the first token, not what came of it.",
)
AUDIENCE: Final = Check(
    "exchange_audience",
    "audience asks for no more than the tokens have",
    "RFC 8693, 2.1 and 2.2.2",
    "Leave audience out, or name what is in the aud of the tokens that were sent.",
)
SCOPE: Final = Check(
    "exchange_scope",
    "scope asks for no more than the tokens have",
    "RFC 8693, 2.1; RFC 6749, 3.3",
    "Leave scope out, or send some of the scopes of the tokens that were sent.",
)

# The subject comes before the actor: whether an actor may act depends on the subject.
CHECKS: Final = (
    *GRANTED,
    RESOURCE,
    TOKENS_SENT,
    TYPES,
    SUBJECT,
    USER_ALLOWED,
    IMPERSONATION,
    ACTOR,
    PERMISSION,
    DEPTH,
    AUDIENCE,
    SCOPE,
)

"""Error codes that concern any request: its form, its headers and its caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "already_exists": CatalogueEntry(
        409,
        "What is to be made is there already.",
        "Use what is there, or choose another name.",
    ),
    "bad_request": CatalogueEntry(
        400,
        "The request is no request of this API.",
        "Compare it with its example in the documentation.",
    ),
    "busy": CatalogueEntry(
        503,
        "Too many change the same at once, or too much is under way.",
        "Send it again after as many seconds as Retry-After says.",
    ),
    "deadline.exceeded": CatalogueEntry(
        504,
        "It took longer than the timeout that was asked for.",
        "Ask for a longer one, or for less at once.",
    ),
    "failed_precondition": CatalogueEntry(
        400,
        "What the call changes is not in the state that this takes.",
        "Read it, and bring it into that state first.",
    ),
    "hashing_busy": CatalogueEntry(
        503,
        "Too many passwords are being checked at the moment.",
        "Send it again after as many seconds as Retry-After says.",
    ),
    "idempotency.key": CatalogueEntry(
        400,
        "The header Idempotency-Key is empty, too long, or holds other characters than "
        "printable ASCII.",
        "Send a random text of up to 200 characters, such as a UUID.",
    ),
    "idempotency.other_request": CatalogueEntry(
        409,
        "The Idempotency-Key was used for another request within the last day.",
        "Make a new key for each new request; repeat a request with its very body.",
    ),
    "idempotency.secret_gone": CatalogueEntry(
        409,
        "The call was carried out before under this Idempotency-Key, and the secret that it was "
        "answered with is kept no longer than ten minutes.",
        "Make another secret for what the message names, under a new key.",
    ),
    "if_match.invalid": CatalogueEntry(
        400,
        "The header If-Match is no ETag of this API.",
        'Send the ETag of the answer that you have seen, in its quotes, such as "7".',
    ),
    "if_match.unsupported": CatalogueEntry(
        400,
        "What the call changes has no state of its own, so If-Match can't be honoured.",
        "Leave the header out.",
    ),
    "internal": CatalogueEntry(
        500,
        "Something failed on the side of the service.",
        "Tell those who run it the request's id: the log has the cause.",
    ),
    "invalid_argument": CatalogueEntry(
        400,
        "Something in the request can't be used.",
        "Look at the other details of the answer.",
    ),
    "json.characters": CatalogueEntry(
        400,
        "A text holds NUL or half of a character.",
        "Send Unicode text without U+0000 and lone surrogates.",
    ),
    "json.duplicate": CatalogueEntry(
        400,
        "A name stands twice in its object.",
        "Send each member once.",
    ),
    "json.malformed": CatalogueEntry(
        400,
        "The body is not JSON in UTF-8.",
        "Send an object as the documentation shows it.",
    ),
    "json.number": CatalogueEntry(
        400,
        "A number can't be held by other programs: NaN, infinite, or too large.",
        "Send a number within 64 bits, or a string where that is taken.",
    ),
    "json.too_many_members": CatalogueEntry(
        400,
        "The body has more than 10,000 members, or more than 50,000 values.",
        "Send less at once. Whole organizations are brought by an import.",
    ),
    "json.too_deep": CatalogueEntry(
        400,
        "Objects and lists are nested more than 64 deep.",
        "Send what the documentation shows.",
    ),
    "method_not_allowed": CatalogueEntry(
        405,
        "The address has no such method.",
        "Use one of those in the header Allow.",
    ),
    "misdirected_request": CatalogueEntry(
        421,
        "The request was sent to another host than the issuer's.",
        "Use the address that the service was configured with.",
    ),
    "not_found": CatalogueEntry(
        404,
        "There is nothing with such an id, or at such an address.",
        "Check the address; an id may be another organization's.",
    ),
    "permission_denied": CatalogueEntry(
        403,
        "The caller's roles do not have the permission that the call needs, in the "
        "organization that it names.",
        "Ask an owner for a role, or name the right organization in x-<vendor>-orgid.",
    ),
    "precondition.failed": CatalogueEntry(
        412,
        "What you change has changed since you looked.",
        "Read it again, and decide anew.",
    ),
    "rate_limit.exceeded": CatalogueEntry(
        429,
        "Too many such requests came in too short a time.",
        "Come again after as many seconds as Retry-After says.",
    ),
    "request_entity_too_large": CatalogueEntry(
        413,
        "The body is larger than this call takes.",
        "Send less at once.",
    ),
    "request_header_fields_too_large": CatalogueEntry(
        431,
        "The headers are larger than the service takes.",
        "Send fewer or shorter headers and cookies.",
    ),
    "token.actor": CatalogueEntry(
        403,
        "The token acts in the name of somebody else: such a token reads organizations, users, "
        "projects, applications and policies, and opens nothing else.",
        "Call it with a token of your own.",
    ),
    "token.audience": CatalogueEntry(
        401,
        "The access token is meant for something else.",
        "Ask for a token with the scope urn:<vendor>:iam:org:project:id:<vendor>:aud, "
        "by an application that may manage.",
    ),
    "token.invalid": CatalogueEntry(
        401,
        "The token is not one, has expired, was revoked, or its user is shut out.",
        "Get a new one.",
    ),
    "token.missing": CatalogueEntry(
        401,
        "The call needs a token.",
        "Send the header Authorization: Bearer, with a personal access token.",
    ),
    "unauthenticated": CatalogueEntry(
        401,
        "The caller is not known.",
        "Send a token that counts.",
    ),
    "unavailable": CatalogueEntry(
        503,
        "The service can't reach its store, or is too busy.",
        "Send it again in a moment. With an Idempotency-Key that is safe for every call.",
    ),
    "unsupported_media_type": CatalogueEntry(
        415,
        "The body is not sent as application/json, or it is compressed.",
        "Send Content-Type: application/json, without Content-Encoding.",
    ),
}

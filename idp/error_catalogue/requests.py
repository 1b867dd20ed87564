"""Error codes that concern any request: its form, its headers and its caller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from idp.error_catalogue.entry import CatalogueEntry
from idp.foundation.i18n import message

ERROR_CODES: Final[Mapping[str, CatalogueEntry]] = {
    "already_exists": CatalogueEntry(
        409,
        "The record to create exists already.",
        "Use the existing one, or choose another name.",
    ),
    "bad_request": CatalogueEntry(
        400,
        "The request doesn't have the format of this API.",
        "Compare it with its example in the documentation.",
    ),
    "busy": CatalogueEntry(
        503,
        "Too many requests change the same record, or too many are running.",
        "Send it again after as many seconds as Retry-After says.",
    ),
    "deadline.exceeded": CatalogueEntry(
        504,
        "It took longer than the timeout that was asked for.",
        "Ask for a longer one, or for less in one request.",
    ),
    "disk_full": CatalogueEntry(
        503,
        "The disk of the service has no space for temporary files.",
        "Free space where its temporary files are (TMPDIR, or /tmp), and send the request again.",
    ),
    "failed_precondition": CatalogueEntry(
        400,
        "The record is not in the state that the call requires.",
        "Read the record, and bring it into that state first.",
    ),
    "hashing_busy": CatalogueEntry(
        503,
        "Too many passwords are being checked at the moment.",
        "Send it again after as many seconds as Retry-After says.",
    ),
    "idempotency.key": CatalogueEntry(
        400,
        "The header Idempotency-Key is empty, too long, or contains characters other than"
        " printable ASCII.",
        "Send a random text of up to 200 characters, such as a UUID.",
    ),
    "idempotency.other_request": CatalogueEntry(
        409,
        "The Idempotency-Key was used for another request within the last day.",
        "Use a new key for each new request; repeat a request with the same body.",
        request_text=message(
            "This form was already submitted with other values. Submit it again if you want both.",
            context="console",
        ),
    ),
    "idempotency.secret_gone": CatalogueEntry(
        409,
        "The call was carried out before under this Idempotency-Key, and the secret of its"
        " answer is stored for ten minutes only.",
        "Generate another secret for the record that the message names, under a new key.",
        request_text=message(
            "This was already done, and its secret can't be shown again. Create another one.",
            context="console",
        ),
    ),
    "if_match.invalid": CatalogueEntry(
        400,
        "The header If-Match is not an ETag of this API.",
        'Send the ETag of the answer that you received, with its quotes, such as "7".',
    ),
    "if_match.unsupported": CatalogueEntry(
        400,
        "The call changes no single record, so If-Match isn't supported.",
        "Leave the header out.",
    ),
    "internal": CatalogueEntry(
        500,
        "The service failed.",
        "Report the request ID to the service's operators: the log has the cause.",
    ),
    "invalid_argument": CatalogueEntry(
        400,
        "The request has an invalid value.",
        "Look at the other details of the answer.",
    ),
    "json.characters": CatalogueEntry(
        400,
        "A string contains NUL or a lone surrogate.",
        "Send Unicode text without U+0000 and lone surrogates.",
    ),
    "json.duplicate": CatalogueEntry(
        400,
        "A name occurs twice in its object.",
        "Send each member once.",
    ),
    "json.malformed": CatalogueEntry(
        400,
        "The body is not JSON in UTF-8.",
        "Send an object as the documentation shows it.",
    ),
    "json.number": CatalogueEntry(
        400,
        "A number is NaN, infinite, or too large for other programs.",
        "Send a number within 64 bits, or a string where that is allowed.",
    ),
    "json.too_many_members": CatalogueEntry(
        400,
        "The body has more than 10,000 members, or more than 50,000 values.",
        "Send less in one request. To create whole organizations, use an import.",
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
        "The request was sent to a host other than the issuer's.",
        "Use the address that the service was configured with.",
    ),
    "not_found": CatalogueEntry(
        404,
        "There is no record with this ID or path.",
        "Check the path; the ID may belong to another organization.",
    ),
    "permission_denied": CatalogueEntry(
        403,
        "The caller's roles do not have the permission that the call needs, in the "
        "organization that it names.",
        "Ask an owner for a role, or name the right organization in x-<vendor>-orgid.",
    ),
    "precondition.failed": CatalogueEntry(
        412,
        "The record has changed since you read it.",
        "Read it again, and decide whether your change still applies.",
        request_text=message(
            "Someone else has changed this. Check the values that you entered. Saving them"
            " replaces the other change.",
            context="console",
        ),
    ),
    "rate_limit.exceeded": CatalogueEntry(
        429,
        "Too many such requests were sent in a short time.",
        "Send the request again after as many seconds as Retry-After says.",
    ),
    "request_entity_too_large": CatalogueEntry(
        413,
        "The body is larger than this call accepts.",
        "Send less in one request.",
    ),
    "request_header_fields_too_large": CatalogueEntry(
        431,
        "The headers are larger than the service accepts.",
        "Send fewer or shorter headers and cookies.",
    ),
    "token.actor": CatalogueEntry(
        403,
        "The token acts for another user: such a token can read organizations, users,"
        " projects, applications and policies, and nothing else.",
        "Call it with a token of your own.",
    ),
    "token.audience": CatalogueEntry(
        401,
        "The access token is not issued for this API.",
        "Request a token with the scope urn:<vendor>:iam:org:project:id:<vendor>:aud, by an"
        " application with managementAccess.",
    ),
    "token.invalid": CatalogueEntry(
        401,
        "The token is malformed, expired or revoked, or its user is inactive.",
        "Get a new one.",
    ),
    "token.missing": CatalogueEntry(
        401,
        "The call requires a token.",
        "Send the header Authorization: Bearer, with a personal access token.",
    ),
    "unauthenticated": CatalogueEntry(
        401,
        "The caller isn't authenticated.",
        "Send a valid token.",
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

"""Error codes that concern any request, and those of the audit log, of figures and of mail."""

from __future__ import annotations

from typing import Final

from idp.error_catalogue.entry import CatalogueEntry, ErrorCodes
from idp.foundation.i18n import message

REQUESTS: Final[ErrorCodes] = {
    "already_exists": CatalogueEntry(409, "Use the existing record, or choose another name."),
    "bad_request": CatalogueEntry(400, "Compare the request with its documented example."),
    "busy": CatalogueEntry(
        503, "Try again after the seconds in Retry-After. Too many requests are running."
    ),
    "deadline.exceeded": CatalogueEntry(504, "Allow a longer timeout, or ask for less."),
    "disk_full": CatalogueEntry(
        503, "Free space for temporary files (TMPDIR, or /tmp), and send it again."
    ),
    "failed_precondition": CatalogueEntry(
        400, "Bring the record into the state that the call requires first."
    ),
    "hashing_busy": CatalogueEntry(
        503, "Try again after the seconds in Retry-After. Too many passwords are checked now."
    ),
    "idempotency.key": CatalogueEntry(400, "Send 1 to 200 printable ASCII characters."),
    "idempotency.other_request": CatalogueEntry(
        409,
        "Use a new key for each new request. This one was used for another within the last day.",
    ),
    "idempotency.secret_gone": CatalogueEntry(
        409,
        message(
            "This was already done, and its secret can't be shown again. Create another one.",
            context="console",
        ),
    ),
    "if_match.invalid": CatalogueEntry(400, 'Send an ETag with its quotes, such as "7".'),
    "if_match.unsupported": CatalogueEntry(
        400, "Leave the header If-Match out. The call changes no single record."
    ),
    "internal": CatalogueEntry(
        500, "Report the request ID to the service's operators. The log has the cause."
    ),
    "invalid_argument": CatalogueEntry(
        400, "Look at the other details of the answer. The request has an invalid value."
    ),
    "json.characters": CatalogueEntry(400, "Send Unicode without U+0000 and lone surrogates."),
    "json.duplicate": CatalogueEntry(400, "Send each member of an object once."),
    "json.malformed": CatalogueEntry(400, "Send a JSON object in UTF-8, as documented."),
    "json.number": CatalogueEntry(400, "Send a number within 64 bits, or text if allowed."),
    "json.too_many_members": CatalogueEntry(
        400, "Send at most 10,000 members and 50,000 values, or use an import."
    ),
    "json.too_deep": CatalogueEntry(400, "Nest objects and lists at most 64 deep."),
    "method_not_allowed": CatalogueEntry(405, "Use one of the methods in the header Allow."),
    "misdirected_request": CatalogueEntry(
        421, "Use the address that the service was configured with, its issuer's."
    ),
    "not_found": CatalogueEntry(404, "Check the path and ID. It may be in another organization."),
    "permission_denied": CatalogueEntry(
        403, "Ask an owner for a role, or name the right organization in x-<vendor>-orgid."
    ),
    "precondition.failed": CatalogueEntry(
        412, "Read it again, and decide whether your change still applies. It has changed since."
    ),
    "rate_limit.exceeded": CatalogueEntry(
        429, "Try again after the seconds in Retry-After. There were too many such requests."
    ),
    "request_entity_too_large": CatalogueEntry(
        413, "Send less in one request. The body is larger than this call accepts."
    ),
    "request_header_fields_too_large": CatalogueEntry(431, "Send less in headers and cookies."),
    "token.actor": CatalogueEntry(
        403,
        "Use a token of your own. One that acts for another user can only read"
        " organizations, users, projects, applications and policies.",
    ),
    "token.audience": CatalogueEntry(
        401,
        "Request the scope urn:<vendor>:iam:org:project:id:<vendor>:aud, by an"
        " application with managementAccess.",
    ),
    "token.invalid": CatalogueEntry(
        401, "Get a new token. This one is malformed, expired or revoked, or its user is inactive."
    ),
    "token.missing": CatalogueEntry(
        401, "Send the header Authorization: Bearer with a personal access token."
    ),
    "unauthenticated": CatalogueEntry(401, "Send a valid token."),
    "unavailable": CatalogueEntry(
        503, "Send it again in a moment, which is safe for every call with an Idempotency-Key."
    ),
    "unsupported_media_type": CatalogueEntry(
        415, "Send Content-Type: application/json, without Content-Encoding."
    ),
}
AUDIT_LOG: Final[ErrorCodes] = {
    "events.cursor_too_old": CatalogueEntry(
        400,
        "Continue with the cursor `oldest` of the answer. Events before it were removed"
        " after the days in audit_change_days, audit_access_days and audit_failure_days.",
    ),
    "events.cursor_unknown": CatalogueEntry(
        400,
        "Send the cursor of a received event, or begin with oldest or latest. After the"
        " restore of a backup, later cursors are unknown.",
    ),
    "events.stream_unknown": CatalogueEntry(
        400, "Use change, access or failure, several separated by commas."
    ),
    "events.type_unknown": CatalogueEntry(
        400,
        "Use names from POST /admin/v1/events/types/_search, or all of an object, such as user.*.",
    ),
}
FIGURES: Final[ErrorCodes] = {
    "usage.order": CatalogueEntry(400, "Send an instant in from that is not after the one in to."),
    "usage.range": CatalogueEntry(
        400, "Ask for a shorter range, for fewer kinds, or for days in place of hours."
    ),
}
MAIL: Final[ErrorCodes] = {
    "mail.mailbox_limit": CatalogueEntry(
        429,
        "Try again after the seconds in Retry-After, or have the code returned. This"
        " recipient got too many messages.",
    ),
    "mail.not_found": CatalogueEntry(404, "Search for the message. Messages are kept seven days."),
    "mail.not_sent": CatalogueEntry(
        400, "Fix the settings smtp_* or the mail server, and try again. The message says why."
    ),
    "mail.not_waiting": CatalogueEntry(
        400, "Nothing is left to do. The message was sent, or is being sent."
    ),
    "mail.off": CatalogueEntry(
        400,
        "Ask the operators to set smtp_host and smtp_from, or sms_hook_url. Messages are held.",
    ),
    "mail.organization_limit": CatalogueEntry(
        429,
        "Try again after the seconds in Retry-After, or have the code returned."
        " Operators set organization_mails_per_day.",
    ),
}

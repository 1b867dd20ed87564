"""/admin/v1/mail: what is sent to people, and whether it can be."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.delivery import letters, testing

_MAIL: Final = "/admin/v1/mail"

OPERATIONS = (
    operation(
        "POST",
        f"{_MAIL}/_search",
        "iam.read",
        letters.search,
        name="letters_search",
        summary="Go through the letters of the last seven days: waiting, sent, failed or held.",
    ),
    operation(
        "POST",
        f"{_MAIL}/{{mailId}}/_retry",
        "iam.write",
        letters.retry,
        name="letters_retry",
        summary="Send a letter now that failed, waits for its next attempt, or was held.",
    ),
    operation(
        "POST",
        f"{_MAIL}/_test",
        "iam.write",
        testing.send,
        name="testing_send",
        summary="Send a mail at once, to see whether the mail server takes it.",
    ),
)

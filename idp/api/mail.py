"""Operations at /admin/v1/mail: the outbox, and a test of the mail server."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.management.instance import mail_test as instance_mail_test
from idp.management.instance import outbox as instance_outbox

_MAIL: Final = "/admin/v1/mail"

SEARCH: Final = operation(
    f"POST {_MAIL}/_search",
    "iam.read",
    instance_outbox.search,
    name="letters_search",
    summary="Search for messages of the last seven days: waiting, sent, failed or held.",
)
RETRY: Final = operation(
    f"POST {_MAIL}/{{mailId}}/_retry",
    "iam.write",
    instance_outbox.retry,
    name="letters_retry",
    summary="Send a message now that failed, waits for its next attempt, or was held.",
)
TEST: Final = operation(
    f"POST {_MAIL}/_test",
    "iam.write",
    instance_mail_test.send,
    name="testing_send",
    summary="Send a test email immediately.",
)
OPERATIONS: Final = named_in(globals())

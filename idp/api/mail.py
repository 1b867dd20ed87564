"""/admin/v1/mail: what is sent to people, and whether it can be."""

from __future__ import annotations

from typing import Final

from idp.api.operation import operation
from idp.delivery import letters, testing

_MAIL: Final = "/admin/v1/mail"

OPERATIONS = (
    operation("POST", f"{_MAIL}/_search", "iam.read", letters.search),
    operation("POST", f"{_MAIL}/{{mailId}}/_retry", "iam.write", letters.retry),
    operation("POST", f"{_MAIL}/_test", "iam.write", testing.send),
)

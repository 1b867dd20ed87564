"""Operations at …/usage: figures over time."""

from __future__ import annotations

from typing import Final

from idp.api.operation import named_in, operation
from idp.management.instance import usage

SEARCH: Final = operation(
    "POST /admin/v1/usage/_search",
    "org.read",
    usage.search,
    name="usage_search",
    summary="Search for figures of sign-ins and active users over time, of one organization or,"
    " with the permission iam.read, of the installation.",
)
OPERATIONS: Final = named_in(globals())

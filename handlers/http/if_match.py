"""The header If-Match of a call of the management API."""

from __future__ import annotations

import re
from typing import Final

from idp.foundation.errors import FieldProblem, InvalidArgument

_ETAG: Final = re.compile(r'"(0|[1-9][0-9]{0,18})"')  # 0: nothing is stored yet


def read(value: str | None, *, is_conditional: bool) -> int | None:
    """Returns the record version of If-Match (RFC 9110 13.1.1). Raises InvalidArgument."""
    if value is None or value.strip() == "*":
        return None
    tag = _ETAG.fullmatch(value.strip())
    if tag is None:
        message = 'must be the ETag of the changed record, such as "7"'
        raise InvalidArgument([FieldProblem("if_match.invalid", "If-Match", message)])
    if not is_conditional:
        message = "isn't supported here: the call changes no single record"
        raise InvalidArgument([FieldProblem("if_match.unsupported", "If-Match", message)])
    return int(tag[1])

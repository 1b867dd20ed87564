"""The header `traceparent` (W3C Trace Context 3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

Attributes = Mapping[str, str | int | float]

# W3C Trace Context: version, trace id, span id, flags.
_PARENT: Final = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?"
)


class TraceParent:
    """The caller's place in a trace, from a header `traceparent`."""

    def __init__(self, trace_id: str, span_id: str, *, is_sampled: bool) -> None:
        self.trace_id = trace_id
        self.span_id = span_id
        self.is_sampled = is_sampled


def parse(traceparent: str | None) -> TraceParent | None:
    """Returns the content of a header `traceparent` (W3C Trace Context 3.2); None if there is
    none, or it is malformed.
    """
    match = _PARENT.fullmatch(traceparent) if traceparent else None
    if match is None or (match[1] == "00" and match[5]):
        return None
    return TraceParent(match[2], match[3], is_sampled=bool(int(match[4], 16) & 1))

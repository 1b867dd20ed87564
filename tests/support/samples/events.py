"""Bodies for searches of the audit log."""

from __future__ import annotations

_FULL = {
    "sequence": 0,
    "limit": 10,
    "asc": True,
    "editorUserId": "nobody",
    "eventTypes": ["user.created"],
    "aggregateId": "{n}",
    "aggregateTypes": ["user"],
    "resourceOwner": "nobody",
    "range": {"since": "2020-01-01T00:00:00Z", "until": "2040-01-01T00:00:00Z"},
    "requestId": "r-1",
}
_FROM = {"sequence": 0, "resourceOwner": "nobody", "from": "2020-01-01T00:00:00Z", "cursor": ""}
BODIES = {
    "POST /admin/v1/events/_search": (_FULL, _FROM),
    "POST /management/v1/orgs/me/events/_search": (_FULL, _FROM),
}
MADE: dict = {}

"""Bodies for searches, which need no records of their own."""

from __future__ import annotations

NO_PLACE = {"limit": 5, "asc": False, "cursor": "", "offset": 0}
_NAME = {"name": "Shop", "method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
BY_NAME = {"query": NO_PLACE, "queries": [{"nameQuery": _NAME}]}

"""Bodies for searches of figures."""

from __future__ import annotations

BODIES = {
    "POST /admin/v1/usage/_search": (
        {
            "orgId": "",
            "kinds": ["sign_in", "active_day"],
            "from": "2029-05-10T00:00:00Z",
            "to": "2029-05-16T00:00:00Z",
            "step": "DAY",
        },
        {"kinds": ["passkey"], "from": "2029-05-16T00:00:00Z", "to": "2029-05-16T10:00:00Z"},
    ),
}
MADE: dict = {}

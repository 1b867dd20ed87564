"""The console's pages about applications with values as their heads describe them."""

from __future__ import annotations

from idp.foundation.i18n import message

URL = "/ui/console/applications/1?"


def pages(said, fields, commands):
    """`fields` and `commands` are the samples of all forms."""
    card = {"title": message("Native"), "text": said("Apps"), "url": URL + said("a")}
    return {
        "console/new-application": {
            "cards": [{**card, "is_chosen": True}, {**card, "is_chosen": False}],
            "tools": [
                {"title": said("Grafana"), "url": URL + said("b"), "is_chosen": True},
                {"title": message("Something else"), "url": URL, "is_chosen": False},
            ],
            "reasons": [
                {"label": message("Roles"), "name": "x", "reason": said("Why (RFC 8252)")}
            ],
            "notes": [said("Mind the slash."), message("And the port.")],
            "fields": fields,
            "commands": commands,
        },
        "console/registered": {
            "about": said("Shop"),
            "client_id": said("x7Gd"),
            "issuer": "https://id.example",
            "client_secret": said("s3cret"),
            "warnings": {said("It uses http."): [said("http://a/")], "Of all.": []},
            "file": said("app.ini"),
            "configuration": said("client_id = x7Gd\nissuer = https://id.example\n"),
            "test_url": URL + said("a"),
            "next_url": URL + said("b"),
        },
        "console/test-sign-in": {
            "about": said("Shop"),
            "is_active": False,
            "back_url": URL + said("a"),
        },
        "console/test-result": {
            "about": said("Shop"),
            "properties": [
                {
                    "label": message("Scopes"),
                    "cell": {"value": said("a"), "kind": "code", "url": ""},
                }
            ],
            "parts": [{"title": message("From userinfo"), "json": said('{"sub": "1"}')}],
            "again_url": URL + said("a"),
            "back_url": URL + said("b"),
        },
    }


BARE = {
    "console/new-application": {
        "cards": [],
        "tools": [],
        "reasons": [],
        "notes": [],
        "fields": [],
        "commands": [],
    },
    "console/registered": {
        "about": "Shop",
        "client_id": "x7Gd",
        "issuer": "https://id.example",
        "client_secret": None,
        "warnings": {},
        "file": None,
        "configuration": None,
        "test_url": None,
        "next_url": URL,
    },
    "console/test-sign-in": {"about": "Shop", "is_active": True, "back_url": URL},
    "console/test-result": {
        "about": "Shop",
        "properties": [],
        "parts": [],
        "again_url": URL,
        "back_url": URL,
    },
}

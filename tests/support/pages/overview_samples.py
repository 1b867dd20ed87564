"""The first page of the console and the audit log, with values as their heads describe them."""

from handlers.console.events.entries import EventEntry, NamedLink
from idp.foundation.i18n import message

URL = "/ui/console/users/1?"


def entry(said):
    return EventEntry(
        at="2026-11-20T11:37:42Z",
        type="user.locked",
        icon="settings",
        sentence=message("%(editor)s locked %(object)s."),
        names={
            "editor": NamedLink(said("Ada"), URL + said("a")),
            "object": NamedLink(said("Minnie")),
        },
        details=[message("Cause: %(value)s", value=said("wrong"))],
        url=URL + said("a"),
        document=said('{"id": 1}'),
        request=NamedLink(said("Uw6tR7QW"), URL + said("a")),
    )


def figures(said):
    """What each plot and each number of the first page may be."""
    kinds = {"lines": ["area", "line-1", "mark-1"], "bars": ["bar-1", "bar-2"]}
    drawn = [
        {
            "kind": kind,
            "title": said("Sign-ins"),
            "empty": None,
            "sentence": said("From May 1 to May 2."),
            "labels": [said("Sign-ins"), message("Failures")],
            "paths": [(look, "M0 0Z") for look in looks],
            "scale": ["2", "1", "0"],
            "times": [said("May 1"), said("May 2")],
        }
        for kind, looks in kinds.items()
    ]
    detail = message("%(number)s today", number=said("1"))
    return {
        "table": None,
        "view_url": URL + said("a"),
        "plots": [*drawn, drawn[0] | {"empty": said("No sign-ins yet.")}],
        "stats": [
            {"label": said("Users"), "icon": "users", "number": said("1"), "detail": each}
            for each in (None, detail)
        ],
        "periods": [
            {"text": said("7 days"), "url": URL + said("a"), "is_current": each}
            for each in (True, False)
        ],
    }


def pages(said, search, ways, commands):
    return {
        "console/overview": {
            "scope": said("Acme"),
            "figures": figures(said),
            "events": {"entries": [entry(said)], "url": URL + said("a")},
            "actions": ways,
            "progress": (1, 2),
            "tasks": [
                {"title": said("A"), "text": said("B"), "is_done": is_done, "url": url}
                for is_done, url in [(True, None), (False, URL + said("a")), (None, None)]
            ],
            "sections": [{"label": said("Users"), "url": URL + said("a")}],
            "commands": commands,
        },
        "console/events": {
            "title_text": message("Events"),
            "search": search,
            "entries": [entry(said)],
            "actions": ways,
            "commands": commands,
            "first_url": URL,
            "next_url": f"{URL}cursor=1",
        },
    }


BARE = {
    "console/overview": {
        "scope": None,
        "figures": {
            **figures(str),
            "plots": [],
            "table": {"labels": [message("Sign-ins")], "rows": [("May 1", ["<1>"])]},
        },
        "events": None,
        "actions": (),
        "progress": None,
        "tasks": [],
        "sections": [],
        "commands": [],
    },
    "console/events": {
        "title_text": message("Events"),
        "search": {"fields": [], "hidden": [], "clear_url": None, "chips": []},
        "entries": [],
        "actions": (),
        "commands": [],
        "first_url": None,
        "next_url": None,
    },
}

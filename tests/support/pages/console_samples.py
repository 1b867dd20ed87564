"""The console's pages with values as their heads describe them (see page_samples)."""

from handlers.console.base import Breadcrumb
from handlers.console.filter_chips import FilterChip
from handlers.console.lists import SortableColumn
from handlers.console.search import Hit
from handlers.forms.durations import EnteredDuration
from idp.foundation.i18n import message
from tests.support.pages import console_app_samples, overview_samples

URL = "/ui/console/users/1?"
URLS = {"first_url": URL, "next_url": f"{URL}cursor=1"}
NO_URLS = {"first_url": None, "next_url": None}


def section(label, url, *, is_current=False):
    return {"label": label, "icon": "user", "url": url, "is_current": is_current}


def frame(said):
    overview = section(said("Overview"), "/ui/console?" + said("org=1"), is_current=True)
    users = section(message("Users"), "/ui/console/users")
    return {
        "groups": [
            {"label": None, "sections": [overview]},
            {"label": said("Directory"), "sections": [users]},
        ],
        "breadcrumbs": [
            Breadcrumb(message("Users"), "/ui/console/users"),
            Breadcrumb(said("Minnie Mouse"), URL + said("a")),
        ],
        "person": said("Minnie Mouse"),
        "organization": said("Acme"),
        "change_url": "/ui/console/organizations",
        "account_url": "/ui/login",
        "logout_url": "/oidc/v1/end_session",
        "search": {
            "url": "/ui/console/search",
            "hidden": [("org", said("1"))],
            "text": said("minnie"),
        },
    }


def field(said, kind, value, options=()):
    return {
        "name": f"{kind}.of",
        "kind": kind,
        "label": said(f"The {kind}"),
        "hint": message("What %(it)s is for.", it=said("it")),
        "value": value,
        "options": options,
        "attributes": {"autocomplete": "off", "dir": "auto", "required": True},
        "group": said("More") if kind in ("url", "choice") else None,
        "is_used": kind == "choice",
    }


def fields(said):
    options = [("1", said("One")), ("2", message("Two"))]
    texts = ["text", "email", "tel", "url", "date", "number", "free", "lines"]
    units = [("h", said("hours")), ("d", message("days"))]
    return [
        *(field(said, kind, said("a\nb")) for kind in texts),
        field(said, "duration", EnteredDuration(said("10"), "d"), units),
        field(said, "password", ""),
        field(said, "choice", "2", options),
        field(said, "choices", ["2"], options),
        field(said, "switch", True),
    ]


def cell(said, kind="text"):
    value = said("Minnie")
    if kind == "chip":
        value = {"label": message("active"), "tone": "good"}
    if kind == "links":
        value = [(said("Minnie"), URL + said("a"), said("Acme")), (said("Mo"), None, None)]
    if kind == "time":
        value = "2026-11-20T11:37:42.123Z"
    if kind == "duration":
        value = 864000
    if kind == "progress":
        value = {"label": said("Rows"), "done": 4, "total": 10}
    return {"value": value, "kind": kind, "url": URL + said("a")}


def row(said):
    return [cell(said, kind) for kind in KINDS]


KINDS = ("link", "links", "text", "code", "time", "duration", "chip", "progress")


def commands(said):
    return [{"label": message("Command line"), "line": said("idp user list")}]


def ways(said):
    one = {"label": message("Lock"), "url": URL + said("a")}
    return [{**one, "is_dangerous": False}, {**one, "is_dangerous": True}]


def table(said):
    return {
        "columns": [
            SortableColumn(said("Name"), URL + said("a"), "ascending"),
            SortableColumn(message("Login"), URL, None),
            message("ID"),
            message("Since"),
            message("Lasts"),
            said("S"),
            message("Rows"),
        ],
        "rows": [row(said)],
        "empty": message("Nobody."),
    }


def action(said):
    return {
        "title_text": message("Lock %(who)s", who=said("Minnie")),
        "about": said("Minnie"),
        "names": [said("Minnie"), said("Mickey")],
        "changes": [{"label": message("ID"), "cell": one} for one in row(said)],
        "intro": message("They are signed out."),
        "fields": fields(said),
        "page_parts": [{**EMPTY_PART, "title": said("Pictures")}],
        "confirm": said("Minnie"),
        "button": message("Lock"),
        "is_dangerous": True,
        "preview_url": URL + said("a"),
        "back_url": URL + said("a"),
        "commands": commands(said),
    }


def brand(said):
    url = URL + said("a")
    text = {
        "name": "t-1",
        "default_text": said("Sign in"),
        "key": said("Sign in"),
        "value": said("Go"),
    }
    way = {"label": message("Dark"), "tag": "ar", "language": said("Arabic"), "url": url}
    return {
        "console/picture": {
            "title_text": message("Logo"),
            "origin": {"label": message("custom"), "tone": "good"},
            "picture": {
                "url": url,
                "width": 400,
                "height": 100,
                "plates": [message("Hard to see.")],
            },
            "on_dark": True,
            "may_write": True,
            "has_own": True,
            "back_url": url,
            "commands": commands(said),
        },
        "console/page-texts": {
            "search": {"fields": fields(said)[:1], "hidden": [("org", said("1"))]},
            "texts": [text],
            "changes": [{"label": said("Sign in"), "cell": cell(said, "code")}],
            "is_stale": True,
            "language": "de",
            "text_direction": "ltr",
            "may_write": True,
            "actions": ways(said),
            "commands": commands(said),
        },
        "console/preview": {
            "example": "accounts",
            "choices": [[{**way, "is_current": True, "tag": None}]],
        },
    }


def found(said):
    return {
        "title_text": message("Users"),
        "intro": message("Everybody."),
        "search": {
            "fields": fields(said)[:1],
            "hidden": [("org", said("1"))],
            "clear_url": URL + said("a"),
            "chips": [FilterChip(said("State"), said("active"), URL + said("a"))],
        },
        **table(said),
        "empty_icon": "users",
        "selection": {
            "action": URL + said("a"),
            "hidden": [("token", said("t"))],
            "choices": [("lock", said("Lock"))],
            "rows": [(said("1"), said("Minnie"))],
        },
        "total": message("%(n)s people", n=3),
        "sizes": [{"text": said("25"), "url": URL + said("a"), "is_current": True}],
        "first_url": URL + said("a"),
        "next_url": URL + said("b"),
        "actions": ways(said)[:1],
        "commands": commands(said),
    }


def hits(said):
    return {
        "page_parts": [
            {
                "title": message("Users"),
                "hits": [
                    Hit(said("Minnie"), URL + said("a"), said("minnie@acme.example")),
                    Hit(message("Policies"), URL + said("b")),
                ],
            }
        ],
        "is_done": True,
        "notes": [message("Only the first %(number)s users.", number=500)],
        "commands": commands(said),
    }


def pages(said):
    return {
        **console_app_samples.pages(said, fields(said), commands(said)),
        **brand(said),
        "console/action": action(said),
        "console/list": found(said),
        "console/made": {
            "title_text": message("Created."),
            "secrets": [{"label": message("Token"), "value": said("x7Gd")}],
            "has_file": True,
            "next_url": URL + said("a"),
        },
        "console/message": {
            "title_text": message("Not found"),
            "sentence": said("It was deleted."),
            "detail": message("%(it)s is gone", it=said("it")),
            "buttons": [(message("Go on"), URL + said("a"))],
        },
        **overview_samples.pages(said, found(said)["search"], ways(said), commands(said)),
        "console/search": hits(said),
        "console/show": {
            "title_text": said("Minnie Mouse"),
            "state": {"label": message("locked"), "tone": "danger"},
            "intro": message("Somebody."),
            "properties": [{"label": message("ID"), "cell": one} for one in row(said)],
            "actions": ways(said),
            "preview_url": URL + said("a"),
            "tabs": [section(said("Profile"), URL + said("a"), is_current=True)],
            "page_parts": [
                {"title": message("Grant types"), **table(said), "actions": ways(said), **URLS},
                {**EMPTY_PART, "entries": [overview_samples.entry(said)]},
            ],
            "commands": commands(said),
        },
    }


NOTHING = {"columns": [], "rows": [], "empty": message("Nothing.")}
EMPTY_PART = {"title": message("Grant types"), **NOTHING, "actions": [], **NO_URLS}
BARE = {
    **console_app_samples.BARE,
    "console/page-texts": {
        "search": {"fields": [], "hidden": []},
        "texts": [],
        "changes": [],
        "is_stale": False,
        "language": "en",
        "text_direction": "ltr",
        "may_write": False,
        "actions": (),
        "commands": [],
    },
    "console/picture": {
        "title_text": message("Logo"),
        "origin": {"label": message("inherited"), "tone": None},
        "picture": None,
        "on_dark": False,
        "may_write": False,
        "has_own": False,
        "back_url": URL,
        "commands": [],
    },
    "console/preview": {"example": "password", "choices": []},
    "console/action": {
        "preview_url": None,
        "page_parts": (),
        "title_text": message("Lock"),
        "about": None,
        "names": [],
        "changes": [],
        "intro": None,
        "fields": [],
        "confirm": None,
        "button": message("Lock"),
        "is_dangerous": False,
        "back_url": URL,
        "commands": [],
    },
    "console/list": {
        "title_text": message("Users"),
        "intro": None,
        "search": None,
        **NOTHING,
        "empty_icon": "users",
        "selection": None,
        "total": None,
        "sizes": None,
        "first_url": None,
        "next_url": None,
        "actions": [],
        "commands": [],
    },
    "console/made": {
        "title_text": message("Created."),
        "secrets": [],
        "has_file": False,
        "next_url": URL,
    },
    "console/message": {
        "title_text": message("Not found"),
        "sentence": message("Gone."),
        "detail": None,
        "buttons": [],
    },
    **overview_samples.BARE,
    "console/search": {"page_parts": [], "is_done": True, "notes": [], "commands": []},
    "console/show": {
        "title_text": "Minnie",
        "state": None,
        "intro": None,
        "properties": [],
        "actions": [],
        "preview_url": None,
        "tabs": [],
        "page_parts": [EMPTY_PART],
        "commands": [],
    },
}

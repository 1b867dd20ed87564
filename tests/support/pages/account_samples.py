"""The pages of an account with values as their heads describe them (see page_samples)."""

from datetime import UTC, datetime

from handlers.account.factor import LAST_USED, FactorState
from idp.foundation.i18n import message
from tests.support.pages import console_samples
from tests.support.pages.console_samples import ways

URL = "/ui/account/there?"


def frame(said):
    return {
        "sections": [
            section
            for group in console_samples.frame(said)["groups"]
            for section in group["sections"]
        ],
        "person": said("Minnie Mouse"),
        "login_name": said("minnie"),
        "change_url": "/ui/account/choose",
        "console_url": "/ui/console",
        "logout_url": "/oidc/v1/end_session",
    }


def choices(said):
    """The choice of an account within a sign-in."""
    person = {"display_name": said("Minnie Mouse"), "login_name": said("minnie@acme.example")}
    usual = {**person, "refused_for": None, "is_hinted": False, "removal_id": None}
    return {
        "accounts": {
            "accounts": [
                {**usual, "choice": ("account", said("s1"))},
                {**usual, "choice": ("signedOut", said("u2")), "removal_id": said("u2")},
                {**usual, "choice": None, "refused_for": said("Wiki")},
            ],
            "is_edited": False,
            "other_url": "/ui/login/accounts?edit=1&" + said("flow=f1"),
        },
        "organization": {
            "organizations": [
                {"id": said("o1"), "name": said("Acme"), "domain": said("acme.example")}
            ],
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
    }


AT = datetime(2026, 11, 20, 11, 37, tzinfo=UTC)


def cards(said):
    states = (
        FactorState(message("2 %(of)s", of=said("it")), LAST_USED, AT),
        FactorState(None, LAST_USED, AT),
        FactorState(message("None")),
    )
    one = {"label": message("Password"), "icon": "lock", "url": URL}
    return [one | {"state": state} for state in states]


def pages(said, policy):
    properties = [
        {"label": message("ID"), "cell": console_samples.cell(said, kind)}
        for kind in ("link", "text", "code", "time", "chip")
    ]
    return {
        "account/overview": {"cards": cards(said)},
        "account/security": {"cards": cards(said)},
        "account/form": {
            "title_text": message("Change %(what)s", what=said("it")),
            "about": said("Minnie"),
            "intro": message("It changes."),
            "fields": console_samples.fields(said),
            "button": message("Save"),
            "other_buttons": [("again", message("Once more"))],
            "is_dangerous": True,
        },
        "account/show": {
            "title_text": message("Profile"),
            "intro": message("What is known of you."),
            "page_parts": [
                {"title": message("Names"), "properties": properties, "actions": ways(said)},
                {"title": None, "properties": [], "actions": []},
            ],
        },
        **lists(said),
        "account/message": console_samples.pages(said)["console/message"],
        "account/password": {
            "login_name": said("minnie@acme.example"),
            "has_password": True,
            "policy": policy,
        },
        "account/passkey-name": {"entered": said("Phone"), "maximum": 100},
    }


def lists(said):
    return {
        "account/sessions": {
            "sessions": [
                {
                    "id": said(f"s{n}"),
                    "browser": said("Firefox"),
                    "system": said("Linux") if n == 1 else None,
                    "is_this": n == 1,
                    "signed_in_at": AT,
                    "last": AT,
                }
                for n in (1, 2)
            ]
        },
        "account/applications": {
            "applications": [
                {
                    "id": said("c1"),
                    "name": said("Acme Wiki"),
                    "scopes": [message("Read %(what)s.", what=said("it")), said("urn:idp:iam:x")],
                    "authorized_at": AT,
                }
            ]
        },
        "account/linked": {
            "linked": [
                {
                    "icon": "brand-google",
                    "provider": said("Corp"),
                    "identity": said("minnie@acme.example"),
                    "linked_at": AT,
                    "remove_url": "/ui/account/linked/l1/remove",
                }
            ]
        },
        "account/passkeys": {
            "passkeys": [passkey(said, AT, True), passkey(said, None, False)],
            "new_url": "/ui/account/passkeys/new",
        },
    }


def passkey(said, used, is_backed_up):
    return {
        "name": said("Phone"),
        "created": AT,
        "used": used,
        "is_backed_up": is_backed_up,
        "rename_url": URL,
        "remove_url": URL,
    }


def bare(policy):
    """The other state of pages that have two."""
    return {
        "account/overview": {"cards": []},
        "account/security": {"cards": []},
        "account/form": {
            "title_text": message("Change"),
            "about": None,
            "intro": None,
            "fields": [],
            "button": message("Save"),
            "other_buttons": [],
            "is_dangerous": False,
        },
        "account/show": {"title_text": message("Profile"), "intro": None, "page_parts": []},
        "account/sessions": {"sessions": []},
        "account/applications": {"applications": []},
        "account/message": console_samples.BARE["console/message"],
        "account/password": {"login_name": "minnie", "has_password": False, "policy": policy},
        "account/linked": {"linked": []},
        "account/passkeys": {"passkeys": [], "new_url": None},
        "account/passkey-name": {"entered": "", "maximum": 100},
    }

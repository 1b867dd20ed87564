"""The pages of an account with values as their heads describe them (see page_samples)."""

from idp.foundation.i18n import message
from tests.support.pages import console_samples
from tests.support.pages.console_samples import ways

URL = "/ui/account/there?"


def frame(said):
    return {
        "sections": console_samples.frame(said)["sections"],
        "person": said("Minnie Mouse"),
        "login_name": said("minnie"),
        "change_url": "/ui/account/choose",
        "console_url": "/ui/console",
        "logout_url": "/oidc/v1/end_session",
    }


def choices(said):
    """What is chosen from within a sign-in."""
    person = {"display_name": said("Minnie Mouse"), "login_name": said("minnie@acme.example")}
    usual = {**person, "refused_for": None, "is_meant": False, "forgotten_by": None}
    return {
        "accounts": {
            "accounts": [
                {**usual, "choice": ("account", said("s1"))},
                {**usual, "choice": ("signedOut", said("u2")), "forgotten_by": said("u2")},
                {**usual, "choice": None, "refused_for": said("Wiki")},
            ]
        },
        "organization": {
            "organizations": [
                {"id": said("o1"), "name": said("Acme"), "domain": said("acme.example")}
            ],
            "login_url": "/ui/login/name?" + said("flow=f1"),
        },
    }


def card(said, name="label"):
    return {name: message("Password"), "text": message("None %(of)s.", of=said("it")), "url": URL}


def pages(said, policy):
    facts = [
        {"label": message("Id"), "cell": console_samples.cell(said, kind)}
        for kind in ("link", "text", "code", "time", "chip")
    ]
    return {
        "account/overview": {"cards": [card(said)]},
        "account/security": {"factors": [card(said, "title")]},
        "account/form": {
            "title_text": message("Change %(what)s", what=said("it")),
            "about": said("Minnie"),
            "intro": message("It changes."),
            "fields": console_samples.fields(said),
            "button": message("Save"),
            "others": [("again", message("Once more"))],
            "is_dangerous": True,
        },
        "account/show": {
            "title_text": message("Profile"),
            "intro": message("What is known of you."),
            "parts_of": [
                {"title": message("Names"), "facts": facts, "actions": ways(said)},
                {"title": None, "facts": [], "actions": []},
            ],
        },
        **lists(said),
        "account/message": console_samples.pages(said)["console/message"],
        "account/password": {
            "login_name": said("minnie@acme.example"),
            "has_password": True,
            "policy": policy,
        },
        "account/passkey-name": {"typed": said("Phone"), "maximum": 100},
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
                    "since": "2026-11-20 11:37 UTC",
                    "last": "2026-11-21 09:12 UTC",
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
                    "since": "2026-11-20 11:37 UTC",
                }
            ]
        },
        "account/passkeys": {
            "passkeys": [passkey(said, "2026-11-21", True), passkey(said, None, False)],
            "new_url": "/ui/account/passkeys/new",
        },
    }


def passkey(said, used, is_backed_up):
    return {
        "name": said("Phone"),
        "created": "2026-11-20",
        "used": used,
        "is_backed_up": is_backed_up,
        "rename_url": URL,
        "remove_url": URL,
    }


def bare(policy):
    """The other state of those that have one."""
    return {
        "account/overview": {"cards": []},
        "account/security": {"factors": []},
        "account/form": {
            "title_text": message("Change"),
            "about": None,
            "intro": None,
            "fields": [],
            "button": message("Save"),
            "others": [],
            "is_dangerous": False,
        },
        "account/show": {"title_text": message("Profile"), "intro": None, "parts_of": []},
        "account/sessions": {"sessions": []},
        "account/applications": {"applications": []},
        "account/message": console_samples.BARE["console/message"],
        "account/password": {"login_name": "minnie", "has_password": False, "policy": policy},
        "account/passkeys": {"passkeys": [], "new_url": None},
        "account/passkey-name": {"typed": "", "maximum": 100},
    }

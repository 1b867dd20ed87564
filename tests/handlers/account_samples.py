"""The pages of an account with values as their heads describe them (see page_samples)."""

from idp.i18n import message
from tests.handlers import console_samples
from tests.handlers.console_samples import ways

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
        "account/message": console_samples.pages(said)["console/message"],
        "account/password": {
            "login_name": said("minnie@acme.example"),
            "has_password": True,
            "policy": policy,
        },
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
            "is_dangerous": False,
        },
        "account/show": {"title_text": message("Profile"), "intro": None, "parts_of": []},
        "account/message": console_samples.BARE["console/message"],
        "account/password": {"login_name": "minnie", "has_password": False, "policy": policy},
    }

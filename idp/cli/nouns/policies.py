"""`idp policy` and `idp text`: policies and message texts."""

from __future__ import annotations

from typing import Final

import click

from idp.cli.building import group
from idp.cli.command import Command, command
from idp.management.policies.policy_kinds import KINDS, PolicyKindEntry

_INSTANCE: Final = "/admin/v1"
_OWN: Final = "/management/v1"
_TEXT: Final = "text/message/{type}/{language}"


def _get(name: str, kind: PolicyKindEntry) -> Command:
    path = f"policies/{kind.path}"
    return command(
        name,
        {"": f"GET {_OWN}/{path}", "instance": f"GET {_INSTANCE}/{path}"},
        f"idp policy get {name}",
        summary=f"Show the {kind.noun} of an organization, its own or inherited.",
    )


def _set(name: str, kind: PolicyKindEntry) -> Command:
    path = f"policies/{kind.path}"
    return command(
        name,
        {"": f"PUT {_OWN}/{path}", "instance": f"PUT {_INSTANCE}/{path}"},
        f"idp policy set {name} --instance",
        base={
            "": (f"GET {_OWN}/{path}", "policy"),
            "instance": (f"GET {_INSTANCE}/{path}", "policy"),
        },
        creation=f"POST {_OWN}/{path}",
        summary=f"Change the {kind.noun} of an organization; the rest stays the same.",
    )


def _reset(name: str, kind: PolicyKindEntry) -> Command:
    return command(
        name,
        f"DELETE {_OWN}/policies/{kind.path}",
        f"idp policy reset {name}",
        confirm="Reset the organization's own policy?",
        summary=f"Reset the {kind.noun} of an organization to that of the instance.",
    )


def _names() -> list[tuple[str, PolicyKindEntry]]:
    return [(name.replace("_", "-"), kind) for name, kind in KINDS.items()]


policy = click.Group("policy", help="Policies.", short_help="Policies.")
for _verb, _build, _help_text in (
    ("get", _get, "Show a policy of an organization, its own or inherited."),
    ("set", _set, "Change a policy of an organization, or with --instance of the instance."),
    ("reset", _reset, "Reset a policy of an organization to that of the instance."),
):
    policy.add_command(group(_verb, _help_text, [_build(*each) for each in _names()]))

text = group(
    "text",
    "The texts of emails and text messages.",
    [
        command(
            "show",
            {"": f"GET {_OWN}/{_TEXT}", "instance": f"GET {_INSTANCE}/{_TEXT}"},
            "idp text show --type verifyemail de",
            summary="Show the texts of a message in a language.",
        ),
        command(
            "set",
            {"": f"PUT {_OWN}/{_TEXT}", "instance": f"PUT {_INSTANCE}/{_TEXT}"},
            "idp text set --type verifyemail de --subject 'Welcome to Acme'",
            base={
                "": (f"GET {_OWN}/{_TEXT}", "customText"),
                "instance": (f"GET {_INSTANCE}/{_TEXT}", "customText"),
            },
            summary="Change the texts of a message; texts without an option stay the same.",
        ),
        command(
            "reset",
            f"DELETE {_OWN}/{_TEXT}",
            "idp text reset --type verifyemail de",
            confirm="Reset the organization's own texts?",
            summary="Reset an organization's texts of a message to those of the instance.",
        ),
    ],
)

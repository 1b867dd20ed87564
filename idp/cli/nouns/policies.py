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
        summary=f"Show the {kind.words} that an organization has, of its own or not.",
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
        first=f"POST {_OWN}/{path}",
        summary=f"Change the {kind.words} of an organization; what is not named stays.",
    )


def _reset(name: str, kind: PolicyKindEntry) -> Command:
    return command(
        name,
        f"DELETE {_OWN}/policies/{kind.path}",
        f"idp policy reset {name}",
        asks="Take the organization's own away?",
        summary=f"Let an organization have the {kind.words} of the instance again.",
    )


def _names() -> list[tuple[str, PolicyKindEntry]]:
    return [(name.replace("_", "-"), kind) for name, kind in KINDS.items()]


policy = click.Group("policy", help="Policies.", short_help="Policies.")
for _verb, _made, _about in (
    ("get", _get, "Show a policy, of an organization's own or not."),
    ("set", _set, "Change a policy of an organization, or with --instance of all."),
    ("reset", _reset, "Let an organization have the policy of the instance again."),
):
    policy.add_command(group(_verb, _about, [_made(*each) for each in _names()]))

text = group(
    "text",
    "The words of letters.",
    [
        command(
            "show",
            {"": f"GET {_OWN}/{_TEXT}", "instance": f"GET {_INSTANCE}/{_TEXT}"},
            "idp text show --type verifyemail de",
            summary="Show the words of a letter in a language.",
        ),
        command(
            "set",
            {"": f"PUT {_OWN}/{_TEXT}", "instance": f"PUT {_INSTANCE}/{_TEXT}"},
            "idp text set --type verifyemail de --subject 'Welcome to Acme'",
            base={
                "": (f"GET {_OWN}/{_TEXT}", "customText"),
                "instance": (f"GET {_INSTANCE}/{_TEXT}", "customText"),
            },
            summary="Change the words of a letter; what is not named stays.",
        ),
        command(
            "reset",
            f"DELETE {_OWN}/{_TEXT}",
            "idp text reset --type verifyemail de",
            asks="Take the organization's own words away?",
            summary="Let an organization have the words of the instance again.",
        ),
    ],
)

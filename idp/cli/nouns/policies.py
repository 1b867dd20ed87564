"""`idp policy` and `idp text`: policies and message texts."""

from __future__ import annotations

from typing import Final

import click

from idp import api
from idp.cli.building import group
from idp.cli.command import Command, with_instance
from idp.management.policies.policy_kinds import KINDS
from idp.records.policies import PolicyKind

_HELP: Final = {
    "maxPasswordAttempts": "Wrong passwords in a row that lock the account. 0: never.",
    "maxOtpAttempts": "Wrong second-factor codes in a row that lock the account. 0: never.",
    "lockoutSeconds": "Seconds until the lock ends. 0: when an administrator unlocks the account.",
    "maxAgeDays": "Days after which a password has to be changed. 0: never.",
}


def _get(kind: PolicyKind) -> Command:
    return Command(
        _verb(kind),
        with_instance(api.policies.READ[kind], api.policies.READ_DEFAULT[kind]),
        f"idp policy get {_verb(kind)}",
        summary=f"Show the {KINDS[kind].noun} of an organization, its own or inherited.",
    )


def _set(kind: PolicyKind) -> Command:
    return Command(
        _verb(kind),
        with_instance(api.policies.CHANGE[kind], api.policies.SET_DEFAULT[kind]),
        f"idp policy set {_verb(kind)} --instance",
        base={
            "": (api.policies.READ[kind], "policy"),
            "instance": (api.policies.READ_DEFAULT[kind], "policy"),
        },
        creation=api.policies.CREATE[kind],
        help_texts=_HELP,
        shows="policy",
        summary=f"Change the {KINDS[kind].noun} of an organization; the rest stays the same.",
    )


def _reset(kind: PolicyKind) -> Command:
    return Command(
        _verb(kind),
        api.policies.RESET[kind],
        f"idp policy reset {_verb(kind)}",
        confirm="Reset the organization's own policy?",
        summary=f"Reset the {KINDS[kind].noun} of an organization to that of the instance.",
    )


def _verb(kind: PolicyKind) -> str:
    return kind.replace("_", "-")


policy = click.Group("policy", help="Policies.", short_help="Policies.")
for _name, _build, _help_text in (
    ("get", _get, "Show a policy of an organization, its own or inherited."),
    ("set", _set, "Change a policy of an organization, or with --instance of the instance."),
    ("reset", _reset, "Reset a policy of an organization to that of the instance."),
):
    policy.add_command(group(_name, _help_text, [_build(kind) for kind in KINDS]))

text = group(
    "text",
    "The texts of emails and text messages.",
    [
        Command(
            "show",
            {
                "": api.policies.READ_MESSAGE_TEXTS,
                "instance": api.policies.READ_DEFAULT_MESSAGE_TEXTS,
            },
            "idp text show --type verifyemail de",
            summary="Show the texts of a message in a language.",
        ),
        Command(
            "set",
            {
                "": api.policies.SET_MESSAGE_TEXTS,
                "instance": api.policies.SET_DEFAULT_MESSAGE_TEXTS,
            },
            "idp text set --type verifyemail de --subject 'Welcome to Acme'",
            base={
                "": (api.policies.READ_MESSAGE_TEXTS, "customText"),
                "instance": (api.policies.READ_DEFAULT_MESSAGE_TEXTS, "customText"),
            },
            summary="Change the texts of a message; texts without an option stay the same.",
        ),
        Command(
            "reset",
            api.policies.RESET_MESSAGE_TEXTS,
            "idp text reset --type verifyemail de",
            confirm="Reset the organization's own texts?",
            summary="Reset an organization's texts of a message to those of the instance.",
        ),
    ],
)

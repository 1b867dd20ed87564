"""Policies: what counts in an organization, and what of it is its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, structs

from handlers.console import cells, commands
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.cells import Cell, part
from handlers.console.fields import Field, Kind
from handlers.console.lists import cell, way
from handlers.console.running import BY_NAME, Document
from handlers.console.sections import CONSOLE
from idp.i18n import Message, message
from idp.policies.forms import MULTI_FACTORS, NO_PASSWORDLESS, PASSWORDLESS, SECOND_FACTORS

PATH: Final = "/policies"
_OF_ALL: Final = f"{PATH}/installation"
_SECTION: Final = "policies"
_CHANGE: Final = message("Change", context="console")
_RESET: Final = message("Inherit again", context="policies")
_SETTING: Final = message("Setting", context="policies")
_VALUE: Final = message("Value", context="policies")
_ORIGIN: Final = message("Where it comes from", context="policies")
_INHERITED: Final = message("inherited", context="policies")
_OWN: Final = message("its own", context="policies")
_BUILT_IN: Final = message("built in", context="policies")


class Policy(Struct, frozen=True):
    """A kind of policy: its address in the API, what can be said in it, and how in a shell."""

    path: str
    title: Message
    fields: tuple[Field, ...]
    option: str

    @property
    def page(self) -> str:
        return self.path.replace("/", "-")


def _field(name: str, label: Message, kind: Kind = "text", hint: Message | None = None) -> Field:
    return Field(
        path=name,
        source=f"policy.{name}",
        label=label,
        hint=hint,
        kind=kind,
        direction="ltr",
        default=False if kind == "switch" else None,
    )


def _list(name: str, label: Message, options: Mapping[str, Message]) -> Field:
    known = {**SECOND_FACTORS, **MULTI_FACTORS}
    offered = [(value, options[known[value]]) for value in _LISTED[name]]
    return Field(
        path=name,
        source=f"policy.{name}",
        label=label,
        kind="choices",
        options=offered,
        is_sent_empty=True,
    )


_SECOND_FACTORS: Final = message("What counts beside a password", context="policies")
_MULTI_FACTORS: Final = message("What counts as two factors by itself", context="policies")
_FACTORS: Final = {
    "otp": message("Authenticator apps", context="policies"),
    "u2f": message("Passkeys", context="policies"),
}
_LISTED: Final = {"secondFactors": SECOND_FACTORS, "multiFactors": MULTI_FACTORS}
_PASSWORDLESS: Final = (
    (PASSWORDLESS, message("allowed", context="policies")),
    (NO_PASSWORDLESS, message("not allowed", context="policies")),
)

_COLOURS: Final = {
    "primaryColor": message("Buttons and links", context="policies"),
    "backgroundColor": message("Background", context="policies"),
    "warnColor": message("Warnings", context="policies"),
    "fontColor": message("Text", context="policies"),
    "primaryColorDark": message("Buttons and links, dark", context="policies"),
    "backgroundColorDark": message("Background, dark", context="policies"),
    "warnColorDark": message("Warnings, dark", context="policies"),
    "fontColorDark": message("Text, dark", context="policies"),
}

POLICIES: Final = (
    Policy(
        "login",
        message("Signing in", context="policies"),
        (
            _field(
                "allowRegister",
                message("People may open accounts themselves", context="policies"),
                "switch",
            ),
            _field(
                "passwordCheckLifetime",
                message("How long a password counts", context="policies"),
                hint=message("Such as 240h: then it is asked again.", context="policies"),
            ),
            _field(
                "forceMfa",
                message("Everybody needs a second factor", context="policies"),
                "switch",
            ),
            _list("secondFactors", _SECOND_FACTORS, _FACTORS),
            _list("multiFactors", _MULTI_FACTORS, _FACTORS),
            _field(
                "secondFactorCheckLifetime",
                message("How long a second factor counts", context="policies"),
            ),
            _field(
                "multiFactorCheckLifetime",
                message("How long a passkey counts", context="policies"),
            ),
            _field(
                "mfaInitSkipLifetime",
                message("When to offer a second factor again", context="policies"),
                hint=message("Such as 720h; 0s: it is not offered.", context="policies"),
            ),
            Field(
                path="passwordlessType",
                source="policy.passwordlessType",
                label=message("Signing in by passkey alone", context="policies"),
                kind="choice",
                options=_PASSWORDLESS,
            ),
            _field(
                "hidePasswordReset",
                message("No way to a new password on the pages", context="policies"),
                "switch",
            ),
            _field(
                "defaultRedirectUri",
                message("Where people go who come from nowhere", context="policies"),
                "url",
            ),
        ),
        "--password-check-lifetime 240h",
    ),
    Policy(
        "password/complexity",
        message("Passwords", context="policies"),
        (
            _field("minLength", message("Characters at least", context="policies"), "number"),
            _field("hasLowercase", message("A small letter", context="policies"), "switch"),
            _field("hasUppercase", message("A capital letter", context="policies"), "switch"),
            _field("hasNumber", message("A digit", context="policies"), "switch"),
            _field("hasSymbol", message("A symbol", context="policies"), "switch"),
        ),
        "--min-length 12",
    ),
    Policy(
        "password/age",
        message("Age of passwords", context="policies"),
        (
            _field(
                "maxAgeDays",
                message("Days after which a new one is due", context="policies"),
                "number",
                message("0: never, as is recommended today.", context="policies"),
            ),
        ),
        "--max-age-days 0",
    ),
    Policy(
        "lockout",
        message("Wrong passwords", context="policies"),
        (
            _field(
                "maxPasswordAttempts",
                message("Attempts before somebody is locked out", context="policies"),
                "number",
                message("0: never; tries are slowed down all the same.", context="policies"),
            ),
            _field(
                "maxOtpAttempts",
                message("The same for codes of a second factor", context="policies"),
                "number",
            ),
        ),
        "--max-password-attempts 10",
    ),
    Policy(
        "label",
        message("Looks", context="policies"),
        tuple(
            _field(
                name, label, hint=message("Such as #2b4fc7; empty: the usual.", context="policies")
            )
            for name, label in _COLOURS.items()
        ),
        "--primary-color '#2b4fc7'",
    ),
    Policy(
        "privacy",
        message("Links", context="policies"),
        (
            _field("tosLink", message("Terms of use", context="policies"), "url"),
            _field("privacyLink", message("Privacy", context="policies"), "url"),
            _field("helpLink", message("Help", context="policies"), "url"),
            _field("docsLink", message("Documentation", context="policies"), "url"),
            _field("supportEmail", message("Address of support", context="policies"), "email"),
        ),
        "--help-link URL",
    ),
)


class OwnHandler(ActionHandler):
    """An organization's policy: made where it was inherited, replaced where it has its own."""

    async def load(self, *ids: str) -> Document:
        loaded = await super().load(*ids)
        if loaded.get("isDefault"):
            operation = self.action.operation.replace("PUT ", "POST ")
            self.action = structs.replace(self.action, operation=operation)
        return loaded


def _actions(policy: Policy) -> tuple[Action, ...]:
    own, all = f"/management/v1/policies/{policy.path}", f"/admin/v1/policies/{policy.path}"
    shared: dict[str, Any] = {
        "section": _SECTION,
        "title": policy.title,
        "fields": policy.fields,
        "button": message("Save", context="console"),
        "done": "saved",
    }
    return (
        Action(
            path=f"{PATH}/{policy.page}",
            operation=f"PUT {own}",
            loads=f"GET {own}",
            intro=message(
                "From then on it is this organization's own, whatever the installation says.",
                context="policies",
            ),
            handler=OwnHandler,
            then=PATH,
            command=f"policy set {policy.page} {policy.option}",
            **shared,
        ),
        Action(
            path=f"{_OF_ALL}/{policy.page}",
            operation=f"PUT {all}",
            loads=f"GET {all}",
            intro=message(
                "It counts in every organization that has none of its own.", context="policies"
            ),
            then=_OF_ALL,
            command=f"policy set {policy.page} --instance {policy.option}",
            **shared,
        ),
        Action(
            path=f"{PATH}/{policy.page}/reset",
            operation=f"DELETE {own}",
            loads=f"GET {own}",
            intro=message(
                "What the installation says counts here again; what was set here is forgotten.",
                context="policies",
            ),
            then=PATH,
            command=f"policy reset {policy.page}",
            **{**shared, "fields": (), "button": _RESET, "done": "removed"},
            is_dangerous=True,
        ),
    )


class PoliciesHandler(ConsoleHandler):
    """What counts in the present organization, and what of it is inherited."""

    section = _SECTION
    prefix = "/management/v1/policies"
    path = PATH
    title = message("Policies", context="console")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (_INHERITED, None),
        False: (_OWN, "good"),
    }

    def may_change(self) -> bool:
        return self.may("policy.write")

    def others(self) -> Sequence[Cell]:
        """The way to the policies of the installation, or back."""
        if "iam.read" not in self.visit.rights.everywhere:
            return []
        label = message("Policies of the installation", context="policies")
        return [way(label, self.at(CONSOLE + _OF_ALL))]

    async def show(self, *ids: str) -> None:
        found = [
            (policy, await self.run(f"GET {self.prefix}/{policy.path}")) for policy in POLICIES
        ]
        first = BY_NAME[f"GET {self.prefix}/{POLICIES[0].path}"]
        org_id = None if first.permission.startswith("iam.") else self.org_id
        self.page(
            "console/show",
            title_text=self.title,
            state=None,
            intro=None,
            facts=[],
            actions=list(self.others()),
            parts_of=[self._part(policy, answer) for policy, answer in found],
            commands=commands.shown(
                self.service.config, first, [], None, org_id, "policy get login"
            ),
        )

    def _part(self, policy: Policy, answer: Document) -> dict[str, Any]:
        label, tone = self.origins[bool(answer.get("isDefault"))]
        origin = cell({"label": label, "tone": tone}, "chip")
        rows = [[cells.text(_ORIGIN), origin]]
        rows += [[cells.text(field.label), _shown(field, answer)] for field in policy.fields]
        return part(policy.title, [_SETTING, _VALUE], rows, _SETTING, self._ways(policy, answer))

    def _ways(self, policy: Policy, answer: Document) -> list[Cell]:
        if not self.may_change():
            return []
        page = f"{CONSOLE}{self.path}/{policy.page}"
        is_own = self.path == PATH and not answer.get("isDefault")
        reset = way(_RESET, self.at(f"{page}/reset"), is_dangerous=True)
        return [way(_CHANGE, self.at(page)), *[reset] * is_own]


class InstallationHandler(PoliciesHandler):
    """What counts where an organization says nothing else."""

    prefix = "/admin/v1/policies"
    path = _OF_ALL
    title = message("Policies of the installation", context="policies")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (_BUILT_IN, None),
        False: (_OWN, "good"),
    }

    def may_change(self) -> bool:
        return "iam.write" in self.visit.rights.everywhere

    def others(self) -> Sequence[Cell]:
        label = message("Policies of the organization", context="policies")
        return [way(label, self.at(CONSOLE + PATH))]


def _shown(field: Field, answer: Document) -> Cell:
    value = answer["policy"].get(field.path)
    if field.kind == "switch":
        return cells.switch(bool(value))
    if field.kind == "choice":
        return cells.text(dict(field.options).get(value))
    if field.kind == "choices":
        return cell([label for name, label in field.options if name in (value or ())], "texts")
    return cells.code("0" if value is None and field.kind == "number" else value and str(value))


ROUTES = [
    *routes(action for policy in POLICIES for action in _actions(policy)),
    (CONSOLE + PATH, PoliciesHandler),
    (CONSOLE + _OF_ALL, InstallationHandler),
]

"""The console's pages of policies: the values in effect, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import structs

from handlers.console import commands
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import (
    BUILT_IN,
    INHERITED,
    OF_ALL,
    OWN,
    PATH,
    POLICIES,
    SECTION,
    ConsolePolicy,
)
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.i18n import Message, message

_CHANGE: Final = message("Change", context="console")
_RESET: Final = message("Inherit again", context="policies")
_SETTING: Final = message("Setting", context="policies")
_VALUE: Final = message("Value", context="policies")
_BESIDE: Final = {
    "pictures": message("Logo and icon", context="policies"),
    "texts": message("Texts of the pages", context="policies"),
    "label/preview": message("Preview", context="policies"),
}
_ORIGIN: Final = message("Where it comes from", context="policies")


class OwnHandler(ActionHandler):
    """Changes an organization's policy: creates it if it was inherited, else replaces it."""

    async def load(self, *ids: str) -> Document:
        loaded = await super().load(*ids)
        if loaded.get("isDefault"):
            operation = self.action.operation.replace("PUT ", "POST ")
            self.action = structs.replace(self.action, operation=operation)
        return loaded


def _preview(policy: ConsolePolicy, path: str) -> tuple[tuple[Message, str], ...]:
    """Returns the preview as an additional button of the form of colours."""
    return ((_BESIDE["label/preview"], f"{path}/label/preview"),) if policy.path == "label" else ()


def _actions(policy: ConsolePolicy) -> tuple[Action, ...]:
    own, all = f"/management/v1/policies/{policy.path}", f"/admin/v1/policies/{policy.path}"
    shared: dict[str, Any] = {
        "section": SECTION,
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
            other_buttons=_preview(policy, PATH),
            then=PATH,
            command=f"policy set {policy.page} {policy.option}",
            **shared,
        ),
        Action(
            path=f"{OF_ALL}/{policy.page}",
            operation=f"PUT {all}",
            loads=f"GET {all}",
            intro=message(
                "It counts in every organization that has none of its own.", context="policies"
            ),
            other_buttons=_preview(policy, OF_ALL),
            then=OF_ALL,
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
    """Shows the policies in effect in the current organization, and which are inherited.

    `origins` has the label and the tone (good or None) for policies that are inherited (True) and
    for the organization's own (False).
    """

    section = SECTION
    prefix = "/management/v1/policies"
    path = PATH
    title = message("Policies", context="console")
    other_path = OF_ALL
    other_label = message("Policies of the installation", context="policies")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (INHERITED, None),
        False: (OWN, "good"),
    }

    def may_change(self) -> bool:
        return self.may("policy.write")

    def others(self) -> Sequence[Cell]:
        """Returns links to other settings of the pages, and from the organization's policies to
        the installation's or the reverse."""
        own = [
            action_link(label, self.at(f"{CONSOLE}{self.path}/{name}"))
            for name, label in _BESIDE.items()
        ]
        if "iam.read" not in self.visit.rights.everywhere:
            return own
        return [*own, action_link(self.other_label, self.at(CONSOLE + self.other_path))]

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
            commands=commands.rendered(
                self.service.config, first, [], None, org_id, "policy get login"
            ),
        )

    def _part(self, policy: ConsolePolicy, answer: Document) -> dict[str, Any]:
        label, tone = self.origins[bool(answer.get("isDefault"))]
        origin = cell({"label": label, "tone": tone}, "chip")
        rows = [[cells.text(_ORIGIN), origin]]
        rows += [[cells.text(field.label), _value_cell(field, answer)] for field in policy.fields]
        return sub_list(
            policy.title, [_SETTING, _VALUE], rows, _SETTING, self._action_links(policy, answer)
        )

    def _action_links(self, policy: ConsolePolicy, answer: Document) -> list[Cell]:
        if not self.may_change():
            return []
        page = f"{CONSOLE}{self.path}/{policy.page}"
        is_own = self.path == PATH and not answer.get("isDefault")
        reset = action_link(_RESET, self.at(f"{page}/reset"), is_dangerous=True)
        return [action_link(_CHANGE, self.at(page)), *([reset] if is_own else [])]


class InstallationHandler(PoliciesHandler):
    """Shows the policies for organizations without their own. `origins` has the label and the tone
    for policies that are built in (True) and for those that were set (False)."""

    prefix = "/admin/v1/policies"
    path = OF_ALL
    title = message("Policies of the installation", context="policies")
    other_path = PATH
    other_label = message("Policies of the organization", context="policies")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (BUILT_IN, None),
        False: (OWN, "good"),
    }

    def may_change(self) -> bool:
        return "iam.write" in self.visit.rights.everywhere


def _value_cell(field: FormField, answer: Document) -> Cell:
    value = answer["policy"].get(field.path)
    if field.kind == "switch":
        return cells.switch(bool(value))
    if field.kind == "choice":
        return cells.text(dict(field.options).get(value))
    if field.kind == "choices":
        return cell([label for name, label in field.options if name in (value or ())], "texts")
    # The API omits a zero from its answers.
    return cells.code("0" if value is None and field.kind == "number" else value and str(value))


ROUTES = [
    *routes(action for policy in POLICIES for action in _actions(policy)),
    (CONSOLE + PATH, PoliciesHandler),
    (CONSOLE + OF_ALL, InstallationHandler),
]

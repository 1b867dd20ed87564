"""The console's pages of policies: the values in effect, and their origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.policies import pictures
from handlers.console.policies.fields import (
    BRANDING_PATH,
    BUILT_IN,
    INHERITED,
    INSTALLATION_BRANDING_PATH,
    INSTALLATION_PATH,
    OWN,
    PATH,
    POLICIES,
    SECTION,
    ConsolePolicy,
)
from handlers.console.policies.pictures import ConsolePictureHandler, InstallationPictureHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import Message, message

_CHANGE: Final = message("Change", context="console")
_RESET: Final = message("Reset to inherited", context="policies")
_SETTING: Final = message("Setting", context="policies")
_VALUE: Final = message("Value", context="policies")
_OVERRIDES: Final = message(
    "Saving overrides the installation's settings for this organization.",
    context="policies",
)
_RESETS: Final = message(
    "The installation's settings apply again. The custom settings are deleted.",
    context="policies",
)
_ORIGIN: Final = message("Origin", context="policies")

_ADJUSTED: Final = message(
    "%(set)s, shown as %(shown)s. Adjusted for readability.", context="policies"
)


# By the operation that changes the policy.
_CREATION: Final = {
    change.name: api.policies.CREATE[kind] for kind, change in api.policies.CHANGE.items()
}


class OwnHandler(ActionHandler):
    """Changes an organization's policy: creates it if it was inherited, else replaces it."""

    def rendered_for(self, record: Document) -> str:
        # The versions of an inherited policy and of the organization's own may be equal.
        return "inherited" if record.get("isDefault") else "own"

    async def load(self, *ids: str) -> Document:
        record = await super().load(*ids)
        if record.get("isDefault"):
            operation = _CREATION.get(self.action.operation.name, self.action.operation)
            self.action = structs.replace(self.action, operation=operation)
        return record


class BrandingFormHandler(OwnHandler):
    """Changes an organization's branding. The page has its pictures, too."""

    async def load(self, *ids: str) -> Document:
        record = await super().load(*ids)
        self.page_parts = [self._origin(record), await pictures.part(self, ConsolePictureHandler)]
        return record

    def _origin(self, record: Document) -> Document:
        """Returns the template value of the origin of colours and shape, with a link to the page
        that resets them."""
        is_inherited = bool(record.get("isDefault"))
        label, tone = PoliciesHandler.origins[is_inherited]
        reset = action_link(_RESET, self.url_of(f"{CONSOLE}{PATH}/label/reset"), is_dangerous=True)
        rows = [[cells.text(self.action.title), cell({"label": label, "tone": tone}, "chip")]]
        return sub_list(
            _ORIGIN, [_SETTING, _VALUE], rows, _SETTING, [] if is_inherited else [reset]
        )


class InstallationBrandingFormHandler(ActionHandler):
    """Changes the branding of organizations without their own."""

    async def load(self, *ids: str) -> Document:
        self.page_parts = [await pictures.part(self, InstallationPictureHandler)]
        return await super().load(*ids)


def _pages(policy: ConsolePolicy) -> tuple[str, str]:
    """Returns the pages that show a policy of an organization and of the installation."""
    if policy.kind == "label":
        return BRANDING_PATH, INSTALLATION_BRANDING_PATH
    return PATH, INSTALLATION_PATH


def _actions(policy: ConsolePolicy) -> tuple[Action, ...]:
    own, is_branding = api.policies.READ[policy.kind], policy.kind == "label"
    page, installation_page = _pages(policy)
    shared: dict[str, Any] = {
        "section": "branding" if is_branding else SECTION,
        "title": policy.title,
        "fields": policy.fields,
        "button": message("Save", context="console"),
        "confirmation": "saved",
    }
    return (
        Action(
            path=f"{PATH}/{policy.page}",
            operation=api.policies.CHANGE[policy.kind],
            loads=own,
            intro=_OVERRIDES,
            handler=BrandingFormHandler if is_branding else OwnHandler,
            preview=f"{PATH}/{policy.page}/preview" if is_branding else "",
            next_path=page,
            command=f"policy set {policy.page} {policy.option}",
            **shared,
        ),
        Action(
            path=f"{INSTALLATION_PATH}/{policy.page}",
            operation=api.policies.SET_DEFAULT[policy.kind],
            loads=api.policies.READ_DEFAULT[policy.kind],
            intro=message(
                "It applies to every organization without custom settings.", context="policies"
            ),
            preview=f"{INSTALLATION_PATH}/{policy.page}/preview" if is_branding else "",
            handler=InstallationBrandingFormHandler if is_branding else None,
            next_path=installation_page,
            command=f"policy set {policy.page} --instance {policy.option}",
            **shared,
        ),
        Action(
            path=f"{PATH}/{policy.page}/reset",
            operation=api.policies.RESET[policy.kind],
            loads=own,
            intro=_RESETS,
            next_path=page,
            command=f"policy reset {policy.page}",
            **{**shared, "fields": (), "button": _RESET, "confirmation": "removed"},
            is_dangerous=True,
        ),
    )


class PoliciesHandler(ConsoleHandler):
    """Displays the policies in effect in the current organization, and which of them are
    inherited.

    `origins` has the label and the tone (good or None) for policies that are inherited (True) and
    for the organization's own (False).
    """

    section = SECTION
    operations = api.policies.READ
    path = PATH
    title = message("Methods and policies", context="console")
    other_path = INSTALLATION_PATH
    other_label = message("Policies of the installation", context="policies")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (INHERITED, None),
        False: (OWN, "good"),
    }

    def may_change(self) -> bool:
        return self.may("policy.write")

    def scope_links(self) -> list[Cell]:
        """Returns the link from the organization's page to that of the installation, or the
        reverse, for those who may open both."""
        if "iam.read" not in self.console_session.rights.everywhere:
            return []
        return [action_link(self.other_label, self.url_of(CONSOLE + self.other_path))]

    async def show(self, *ids: str) -> None:
        policies = [policy for policy in POLICIES if policy.kind != "label"]
        self.object_page(
            self.title,
            actions=self.scope_links(),
            page_parts=[await self.part(policy) for policy in policies],
            commands=self.shell(self.operations["login"], [], "policy get login"),
        )

    async def part(self, policy: ConsolePolicy) -> Document:
        """Returns the template value of a policy's settings and their origin."""
        answer = await self.run(self.operations[policy.kind])
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
        reset = action_link(_RESET, self.url_of(f"{page}/reset"), is_dangerous=True)
        return [action_link(_CHANGE, self.url_of(page)), *([reset] if is_own else [])]


class InstallationHandler(PoliciesHandler):
    """Shows the policies for organizations without their own. `origins` has the label and the tone
    for default policies (True) and for those that were set (False)."""

    operations = api.policies.READ_DEFAULT
    path = INSTALLATION_PATH
    title = message("Policies of the installation", context="policies")
    other_path = PATH
    other_label = message("Policies of the organization", context="policies")
    origins: Mapping[bool, tuple[Message, str | None]] = {
        True: (BUILT_IN, None),
        False: (OWN, "good"),
    }

    def may_change(self) -> bool:
        return "iam.write" in self.console_session.rights.everywhere


def _value_cell(field: FormField, answer: Document) -> Cell:
    value = answer["policy"].get(field.path)
    if field.kind == "switch":
        return cells.switch(bool(value))
    if field.kind == "choice":
        return cells.text(dict(field.options).get(value))
    if field.kind == "duration":
        return cells.duration(value)
    if field.kind == "choices":
        return cell([label for name, label in field.options if name in (value or ())], "texts")
    effective = answer["policy"].get("effective", {}).get(field.path)
    if effective is not None:
        return cells.text(structs.replace(_ADJUSTED, args={"set": value, "shown": effective}))
    # The API omits a zero from its answers.
    if field.kind == "colour" and value:
        return cell(value, "colour")
    return cells.code("0" if value is None and field.kind == "number" else value and str(value))


ROUTES = [
    *routes(action for policy in POLICIES for action in _actions(policy)),
    (CONSOLE + PATH, PoliciesHandler),
    (CONSOLE + INSTALLATION_PATH, InstallationHandler),
]

"""The console's pages of organizations, and the set-up of one with its first administrator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console import commands, domains, members, roles
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, fact
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.i18n import message
from idp.identity.users.memberships import ORG_OWNER
from idp.oauth.params import Params

OWN: Final = "/management/v1/orgs/me"
ANY: Final = "/admin/v1/orgs/{orgId}"
PATH: Final = "/organizations"
ONE: Final = f"{PATH}/{{orgId}}"
_SECTION: Final = "organizations"
_SET_UP: Final = "POST /admin/v1/orgs/_setup"

_NAME: Final = message("Name", context="console")
_DOMAIN: Final = message("Domain", context="organizations")
_STATE: Final = message("State", context="console")
_ID: Final = message("Id", context="console")

_ADMINISTRATOR: Final = (
    FormField(
        path="human.userName",
        label=message("User name of the administrator", context="organizations"),
        direction="ltr",
        is_required=True,
    ),
    FormField(
        path="human.profile.firstName",
        label=message("First name", context="users"),
        is_required=True,
    ),
    FormField(
        path="human.profile.lastName",
        label=message("Last name", context="users"),
        is_required=True,
    ),
    FormField(
        path="human.email.email",
        label=message("E-mail address", context="users"),
        kind="email",
        direction="ltr",
        is_required=True,
    ),
    FormField(
        path="human.email.isEmailVerified",
        label=message("I know that this address is theirs", context="users"),
        kind="switch",
    ),
    FormField(
        path="human.password",
        label=message("First password", context="users"),
        kind="password",
        autocomplete="new-password",
    ),
)
_MORE: Final = message("More", context="console")
_SET_UP_MORE: Final = (
    FormField(
        path="human.phone.phone",
        label=message("Phone number", context="users"),
        kind="tel",
        direction="ltr",
        group=_MORE,
    ),
    FormField(
        path="human.profile.preferredLanguage",
        label=message("Language", context="page"),
        hint=message("Such as en or pt-BR.", context="users"),
        direction="ltr",
        group=_MORE,
    ),
    FormField(
        path="roles",
        label=message("Roles", context="console"),
        kind="choices",
        options=roles.OF_ORGANIZATION,
        default=[ORG_OWNER],
        group=_MORE,
    ),
)


_SET_UP_FIELDS: Final = (
    FormField(path="org.name", label=_NAME, is_required=True),
    FormField(
        path="org.domain",
        label=_DOMAIN,
        hint=message("Left empty, it is made of the name.", context="organizations"),
        direction="ltr",
    ),
    *_ADMINISTRATOR,
    *_SET_UP_MORE,
)


class RemovalHandler(ActionHandler):
    """Deletes an organization. The page that follows is in the person's default organization."""

    async def act(self, form: Params, values: Values, ids: Sequence[str]) -> Document:
        answer = await super().act(form, values, ids)
        self.organization = None
        return answer


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=_SET_UP,
        fields=_SET_UP_FIELDS,
        title=message("New organization", context="organizations"),
        intro=message(
            "The organization and its first administrator are made together.",
            context="organizations",
        ),
        button=message("Create the organization", context="organizations"),
        then=ONE,
        done="created",
        command="org create --name NAME --owner-user-name USER --owner-email EMAIL"
        " --owner-first-name FIRST --owner-last-name LAST",
    ),
    Action(
        path=f"{ONE}/edit",
        section=_SECTION,
        operation=f"PUT {OWN}",
        loads=f"GET {OWN}",
        name="org.name",
        title=message("Rename the organization", context="organizations"),
        button=message("Save", context="console"),
        fields=(FormField(path="name", source="org.name", label=_NAME, is_required=True),),
        then=ONE,
        done="saved",
        command="org rename --name NAME",
    ),
    Action(
        path=f"{ONE}/deactivate",
        section=_SECTION,
        operation=f"POST {OWN}/_deactivate",
        loads=f"GET {OWN}",
        name="org.name",
        title=message("Deactivate the organization", context="organizations"),
        intro=message(
            "Nobody of it can sign in, its applications stop, and all that was issued there"
            " ends, until it is active again.",
            context="organizations",
        ),
        button=message("Deactivate", context="console"),
        confirms=True,
        is_dangerous=True,
        then=ONE,
        done="deactivated",
        command="org deactivate",
    ),
    Action(
        path=f"{ONE}/reactivate",
        section=_SECTION,
        operation=f"POST {OWN}/_reactivate",
        loads=f"GET {OWN}",
        name="org.name",
        title=message("Reactivate the organization", context="organizations"),
        button=message("Reactivate", context="console"),
        then=ONE,
        done="reactivated",
        command="org reactivate",
    ),
    Action(
        path=f"{ONE}/delete",
        section=_SECTION,
        operation=f"DELETE {ANY}",
        loads=f"GET {ANY}",
        handler=RemovalHandler,
        name="org.name",
        title=message("Delete the organization", context="organizations"),
        intro=message(
            "Its people, projects and applications go with it, and all that was issued there"
            " ends. There is no way back.",
            context="organizations",
        ),
        button=message("Delete", context="console"),
        confirms=True,
        is_dangerous=True,
        then=PATH,
        done="deleted",
        command="org delete {orgId}",
    ),
)


class OrganizationsHandler(ListHandler):
    """Lists the organizations that the person may read; opening one makes it the current one."""

    section = _SECTION
    operation = "POST /v2/organizations/_search"
    title = message("Organizations", context="console")
    search = (
        FormField(
            path="name",
            label=message("Name begins with", context="organizations"),
            means=("queries",),
        ),
    )
    columns = (_NAME, _STATE, _DOMAIN, _ID)
    command = "org list"
    is_everywhere = True

    def queries(self, values: Values) -> list[Document]:
        how = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
        return [{"nameQuery": {"name": values["name"], **how}}] if values["name"] else []

    def row(self, organization: Document) -> list[Cell]:
        path = self.at(f"{CONSOLE}{ONE}", organization["id"], org=organization["id"])
        return [
            cells.link(organization["name"], path),
            cells.state_cell(organization["state"]),
            cells.code(organization["primaryDomain"]),
            cells.code(organization["id"]),
        ]

    def actions(self) -> list[Cell]:
        new = message("New organization", context="organizations")
        may = "iam.write" in self.visit.rights.everywhere
        return [action_link(new, f"{CONSOLE}{PATH}/new")] if may else []


_DANGEROUS: Final = ("deactivate", "delete")


class ConsoleOrganizationHandler(ConsoleHandler):
    """Shows one organization with its domains and members."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        (id,) = ids
        await self.enter_organization(id)
        organization = (await self.run(f"GET {OWN}"))["org"]
        self.page(
            "console/show",
            title_text=organization["name"],
            state=cells.state(organization["state"]),
            intro=None,
            facts=[
                fact(_DOMAIN, cells.code(organization["primaryDomain"])),
                fact(_ID, cells.code(id)),
                fact(
                    message("Created", context="console"),
                    cells.instant(organization["details"].get("creationDate")),
                ),
            ],
            actions=self._action_links(id, organization),
            parts_of=[
                await domains.of_organization(self, id),
                await members.of_organization(self, id),
            ],
            commands=commands.rendered(
                self.service.config, BY_NAME[f"GET {OWN}"], [], None, id, f"org show {id}"
            ),
        )

    def _action_links(self, id: str, organization: Document) -> list[Cell]:
        turn = "deactivate" if organization["state"].endswith("_ACTIVE") else "reactivate"
        labels = {
            "edit": (message("Rename", context="console"), self.may("org.write")),
            "deactivate": (message("Deactivate", context="console"), self.may("org.delete")),
            "reactivate": (message("Reactivate", context="console"), self.may("org.delete")),
            "delete": (message("Delete", context="console"), self.may("org.delete")),
        }
        return [
            action_link(label, self.at(f"{CONSOLE}{ONE}/{to}", id), is_dangerous=to in _DANGEROUS)
            for to in ("edit", turn, "delete")
            for label, may in [labels[to]]
            if may
        ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, OrganizationsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ConsoleOrganizationHandler),
]

"""The console's pages of organizations, and the set-up of one with its first administrator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console import members, roles
from handlers.console.actions import Action, ActionHandler, FirstPasswordHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import message
from idp.identity.users.memberships import ORG_OWNER
from idp.oauth.params import Params

PATH: Final = "/organizations"
PAGE_PATH: Final = f"{PATH}/{{orgId}}"
_SECTION: Final = "organizations"

_NAME: Final = message("Name", context="console")
_DOMAIN: Final = message("Domain", context="organizations")
_STATE: Final = message("State", context="console")
_ID: Final = message("ID", context="console")

_ADMINISTRATOR: Final = (
    FormField(
        path="human.userName",
        label=message("Username of the administrator", context="organizations"),
        direction="ltr",
        kind="name",
        is_required=True,
    ),
    FormField(
        path="human.profile.firstName",
        label=message("Given name", context="users"),
        is_required=True,
    ),
    FormField(
        path="human.profile.lastName",
        label=message("Family name", context="users"),
        is_required=True,
    ),
    FormField(
        path="human.email.email",
        label=message("Email", context="users"),
        kind="email",
        direction="ltr",
        is_required=True,
    ),
    FormField(
        path="human.email.isEmailVerified",
        label=message("Mark as verified", context="users"),
        kind="switch",
    ),
    FormField(
        path="human.password",
        label=message("Initial password", context="users"),
        kind="password",
        autocomplete="new-password",
    ),
)
_MORE_GROUP: Final = message("More", context="console")
_FURTHER_SET_UP_FIELDS: Final = (
    FormField(
        path="human.phone.phone",
        label=message("Phone number", context="users"),
        kind="tel",
        direction="ltr",
        group=_MORE_GROUP,
    ),
    FormField(
        path="human.profile.preferredLanguage",
        label=message("Language", context="page"),
        hint=message("For example, en or pt-BR.", context="users"),
        direction="ltr",
        group=_MORE_GROUP,
    ),
    FormField(
        path="roles",
        label=message("Roles", context="console"),
        kind="choices",
        options=roles.OF_ORGANIZATION,
        default=[ORG_OWNER],
        group=_MORE_GROUP,
    ),
)


_SET_UP_FIELDS: Final = (
    FormField(path="org.name", label=_NAME, is_required=True),
    FormField(
        path="org.domain",
        label=_DOMAIN,
        hint=message("If empty, it is derived from the name.", context="organizations"),
        direction="ltr",
    ),
    *_ADMINISTRATOR,
    *_FURTHER_SET_UP_FIELDS,
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
        operation=api.organizations.SET_UP,
        fields=_SET_UP_FIELDS,
        handler=FirstPasswordHandler,
        title=message("New organization", context="organizations"),
        intro=message(
            "The organization and its first administrator are created together.",
            context="organizations",
        ),
        button=message("Create the organization", context="organizations"),
        next_path=PAGE_PATH,
        confirmation="created",
        command="org create --name NAME --owner-user-name USER --owner-email EMAIL"
        " --owner-first-name FIRST --owner-last-name LAST",
    ),
    Action(
        path=f"{PAGE_PATH}/edit",
        section=_SECTION,
        operation=api.organizations.RENAME,
        loads=api.organizations.READ,
        name="org.name",
        title=message("Rename the organization", context="organizations"),
        button=message("Save", context="console"),
        fields=(FormField(path="name", source="org.name", label=_NAME, is_required=True),),
        next_path=PAGE_PATH,
        confirmation="saved",
        command="org rename --name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/deactivate",
        section=_SECTION,
        operation=api.organizations.DEACTIVATE,
        loads=api.organizations.READ,
        name="org.name",
        title=message("Deactivate the organization", context="organizations"),
        intro=message(
            "Its users can't sign in and its applications stop until you "
            "reactivate it. All its tokens are revoked.",
            context="organizations",
        ),
        button=message("Deactivate", context="console"),
        is_dangerous=True,
        next_path=PAGE_PATH,
        confirmation="deactivated",
        command="org deactivate",
    ),
    Action(
        path=f"{PAGE_PATH}/reactivate",
        section=_SECTION,
        operation=api.organizations.REACTIVATE,
        loads=api.organizations.READ,
        name="org.name",
        title=message("Reactivate the organization", context="organizations"),
        button=message("Reactivate", context="console"),
        next_path=PAGE_PATH,
        confirmation="reactivated",
        command="org reactivate",
    ),
    Action(
        path=f"{PAGE_PATH}/delete",
        section=_SECTION,
        operation=api.organizations.REMOVE_ANY,
        loads=api.organizations.READ_ANY,
        handler=RemovalHandler,
        name="org.name",
        title=message("Delete the organization", context="organizations"),
        intro=message(
            "Its users, projects and applications are deleted and all its "
            "tokens revoked. This can't be undone.",
            context="organizations",
        ),
        button=message("Delete", context="console"),
        confirms=True,
        is_dangerous=True,
        next_path=PATH,
        confirmation="deleted",
        command="org delete {orgId}",
    ),
)


class OrganizationsHandler(ListHandler):
    """Lists the organizations that the person may read; opening one makes it the current one."""

    section = _SECTION
    operation = api.organizations.SEARCH
    icon = "building-2"
    title = message("Organizations", context="console")
    search = (
        FormField(
            path="name",
            label=message("Name begins with", context="organizations"),
            related_paths=("queries",),
        ),
    )
    columns = (_NAME, _STATE, _DOMAIN, _ID)
    command = "org list"
    is_everywhere = True

    def queries(self, values: Values) -> list[Document]:
        method = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
        return [{"nameQuery": {"name": values["name"], **method}}] if values["name"] else []

    def row(self, organization: Document) -> list[Cell]:
        path = self.url_of(f"{CONSOLE}{PAGE_PATH}", organization["id"], org=organization["id"])
        return [
            cells.link(organization["name"], path),
            cells.state_cell(organization["state"]),
            cells.code(organization["primaryDomain"]),
            cells.code(organization["id"]),
        ]

    def actions(self) -> list[Cell]:
        label = message("New organization", context="organizations")
        may_change = "iam.write" in self.console_session.rights.everywhere
        return [action_link(label, f"{CONSOLE}{PATH}/new")] if may_change else []


_DANGEROUS: Final = ("deactivate", "delete")


class ConsoleOrganizationHandler(ConsoleHandler):
    """Shows one organization with its domains and members."""

    section = _SECTION

    @property
    def named_org_id(self) -> str | None:
        """The id of the organization that the page shows."""
        return self.path_args[0]

    async def show(self, *ids: str) -> None:
        (org_id,) = ids
        organization = (await self.run(api.organizations.READ))["org"]
        self.object_page(
            organization["name"],
            state=cells.state(organization["state"]),
            properties=[
                labelled_cell(_DOMAIN, cells.code(organization["primaryDomain"])),
                labelled_cell(_ID, cells.code(org_id)),
                labelled_cell(
                    message("Created", context="console"),
                    cells.instant(organization["details"].get("creationDate")),
                ),
            ],
            actions=self._action_links(org_id, organization),
            page_parts=[
                await members.of_organization(self, org_id),
            ],
            commands=self.shell(api.organizations.READ, [], f"org show {org_id}"),
        )

    def _action_links(self, org_id: str, organization: Document) -> list[Cell]:
        state_change = "deactivate" if organization["state"].endswith("_ACTIVE") else "reactivate"
        labels = {
            "edit": (message("Rename", context="console"), self.may("org.write")),
            "deactivate": (message("Deactivate", context="console"), self.may("org.delete")),
            "reactivate": (message("Reactivate", context="console"), self.may("org.delete")),
            "delete": (message("Delete", context="console"), self.may("org.delete")),
        }
        return [
            action_link(
                label,
                self.url_of(f"{CONSOLE}{PAGE_PATH}/{action}", org_id),
                is_dangerous=action in _DANGEROUS,
            )
            for action in ("edit", state_change, "delete")
            for label, may_change in [labels[action]]
            if may_change
        ]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, OrganizationsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ConsoleOrganizationHandler),
]

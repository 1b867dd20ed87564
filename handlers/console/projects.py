"""The console's pages of projects and their roles."""

from __future__ import annotations

from typing import Final

from handlers.console import commands, project_grants
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, fact, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message

PROJECTS: Final = "/management/v1/projects"
PROJECT: Final = f"{PROJECTS}/{{projectId}}"
PATH: Final = "/projects"
ONE: Final = f"{PATH}/{{projectId}}"
_SECTION: Final = "projects"
_GRANTS: Final = "POST /management/v1/users/grants/_search"

_NAME: Final = message("Name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("Id", context="console")
_MADE: Final = message("Created", context="console")
_KEY: Final = message("Key", context="console")
_GROUP: Final = message("Group", context="console")

_NAME_FIELD: Final = FormField(path="name", label=_NAME, is_required=True)
_ROLE_FIELDS: Final = (
    FormField(
        path="roleKey",
        label=_KEY,
        hint=message("What programs are told, without blanks: admin.", context="projects"),
        direction="ltr",
        is_required=True,
    ),
    FormField(path="displayName", label=_NAME, is_required=True),
    FormField(path="group", label=_GROUP, is_sent_empty=True),
)


def _check(name: str, label: Message) -> FormField:
    """Returns a switch that limits who may use the project's applications."""
    return FormField(
        path=name,
        source=f"project.{name}",
        label=label,
        kind="switch",
        default=False,
        is_sent_empty=True,
    )


class RoleHandler(ActionHandler):
    """Changes one role of a project. No operation returns a single role, so it is searched in the
    list of the project's roles."""

    async def load(self, *ids: str) -> Document:
        roles = (await self.run(f"GET {PROJECT}/roles", ids[0])).get("result", ())
        found: Document | None = next((role for role in roles if role["key"] == ids[1]), None)
        if found is None:
            raise NotFound("there is no such role")
        return found


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=f"POST {PROJECTS}",
        title=message("New project", context="projects"),
        intro=message(
            "A project holds applications that belong together, and the roles that people can"
            " have in them.",
            context="projects",
        ),
        button=message("Create the project", context="projects"),
        fields=(_NAME_FIELD,),
        then=f"{PATH}/{{id}}",
        done="created",
        command="project create --name NAME",
    ),
    Action(
        path=f"{ONE}/edit",
        section=_SECTION,
        operation=f"PUT {PROJECT}",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("Change the project", context="projects"),
        button=message("Save", context="console"),
        fields=(
            FormField(path="name", label=_NAME, source="project.name", is_required=True),
            _check(
                "hasProjectCheck",
                message(
                    "Only users of this organization and of those that it is granted to",
                    context="projects",
                ),
            ),
            _check(
                "projectRoleCheck",
                message("Only users with a role in the project", context="projects"),
            ),
        ),
        then=ONE,
        done="saved",
        command="project change {projectId} --name NAME",
    ),
    Action(
        path=f"{ONE}/deactivate",
        section=_SECTION,
        operation=f"POST {PROJECT}/_deactivate",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("Deactivate the project", context="projects"),
        intro=message(
            "Nobody signs in to its applications until it is active again, and all that was"
            " issued to them ends.",
            context="projects",
        ),
        button=message("Deactivate", context="console"),
        is_dangerous=True,
        then=ONE,
        done="deactivated",
        command="project deactivate {projectId}",
    ),
    Action(
        path=f"{ONE}/reactivate",
        section=_SECTION,
        operation=f"POST {PROJECT}/_reactivate",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("Reactivate the project", context="projects"),
        button=message("Reactivate", context="console"),
        then=ONE,
        done="reactivated",
        command="project reactivate {projectId}",
    ),
    Action(
        path=f"{ONE}/delete",
        section=_SECTION,
        operation=f"DELETE {PROJECT}",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("Delete the project", context="projects"),
        intro=message(
            "Its applications and roles go with it, and everything that was issued to them"
            " ends. There is no way back.",
            context="projects",
        ),
        button=message("Delete", context="console"),
        confirms=True,
        is_dangerous=True,
        then=PATH,
        done="deleted",
        command="project delete {projectId}",
    ),
    Action(
        path=f"{ONE}/roles/new",
        section=_SECTION,
        operation=f"POST {PROJECT}/roles",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("New role", context="projects"),
        button=message("Add the role", context="projects"),
        fields=_ROLE_FIELDS,
        then=ONE,
        done="added",
        command="role add --project {projectId} --key KEY --display-name NAME",
    ),
    Action(
        path=f"{ONE}/roles/{{roleKey}}/edit",
        section=_SECTION,
        operation=f"PUT {PROJECT}/roles/{{roleKey}}",
        title=message("Change the role", context="projects"),
        button=message("Save", context="console"),
        fields=_ROLE_FIELDS[1:],
        name="key",
        handler=RoleHandler,
        then=ONE,
        done="saved",
        command="role change --project {projectId} {roleKey} --display-name NAME",
    ),
    Action(
        path=f"{ONE}/roles/{{roleKey}}/delete",
        section=_SECTION,
        operation=f"DELETE {PROJECT}/roles/{{roleKey}}",
        loads=f"GET {PROJECT}",
        name="project.name",
        title=message("Delete the role", context="projects"),
        intro=message("Whoever has it loses it.", context="projects"),
        button=message("Delete", context="console"),
        is_dangerous=True,
        then=ONE,
        done="deleted",
        command="role remove --project {projectId} {roleKey}",
    ),
)


class ProjectsHandler(ListHandler):
    """Lists the projects of the current organization."""

    section = _SECTION
    operation = f"POST {PROJECTS}/_search"
    title = message("Projects", context="console")
    empty = message("There is no project yet.", context="projects")
    columns = (_NAME, _STATE, _ID)
    command = "project list"

    def row(self, project: Document) -> list[Cell]:
        return [
            cells.link(project["name"], self.at(CONSOLE + ONE, project["id"])),
            cells.state_cell(project.get("state", "")),
            cells.code(project["id"]),
        ]

    def actions(self) -> list[Cell]:
        new = message("New project", context="projects")
        return (
            [action_link(new, self.at(f"{CONSOLE}{PATH}/new"))]
            if self.may("project.write")
            else []
        )


class ProjectHandler(ConsoleHandler):
    """Shows one project with its applications, roles, organizations and users."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        (id,) = ids
        project = (await self.run(f"GET {PROJECT}", id))["project"]
        roles = (await self.run(f"GET {PROJECT}/roles", id)).get("result", [])
        self.page(
            "console/show",
            title_text=project["name"],
            state=cells.state(project.get("state", "")),
            intro=None,
            facts=[
                fact(_ID, cells.code(id)),
                fact(_MADE, cells.instant(project["details"].get("creationDate"))),
            ],
            actions=self._action_links(id, project),
            parts_of=[
                await self._apps(id),
                self._roles(id, roles),
                await project_grants.listed(self, id),
                *await self._grants(id),
            ],
            commands=commands.rendered(
                self.service.config,
                BY_NAME[f"GET {PROJECT}"],
                [id],
                None,
                self.org_id,
                "project show {projectId}",
            ),
        )

    def _action_links(self, id: str, project: Cell) -> list[Cell]:
        if not self.may("project.write"):
            return []
        is_active = str(project.get("state", "")).endswith("_ACTIVE")
        turn = "deactivate" if is_active else "reactivate"
        labels = {
            "edit": message("Change", context="console"),
            "deactivate": message("Deactivate", context="console"),
            "reactivate": message("Reactivate", context="console"),
            "delete": message("Delete", context="console"),
        }
        return [
            action_link(
                labels[to], self.at(f"{CONSOLE}{ONE}/{to}", id), is_dangerous=to == "delete"
            )
            for to in ("edit", turn, "delete")
        ]

    async def _apps(self, id: str) -> Cell:
        list_page = await fetch_page(self, "apps", f"POST {PROJECT}/apps/_search", id)
        new = self.at(f"{CONSOLE}/applications/new", project=id)
        path = f"{CONSOLE}{ONE}/applications/{{appId}}"
        return sub_list(
            message("Applications", context="console"),
            [_NAME, _STATE, message("Client id", context="console")],
            [
                [
                    cells.link(
                        app["name"],
                        self.at(path, id, app["id"]),
                    ),
                    cells.state_cell(app.get("state", "")),
                    cells.code(app["id"]),
                ]
                for app in list_page.records
            ],
            message("There is no application yet.", context="projects"),
            [action_link(message("New application", context="console"), new)]
            if self.may("project.app.write")
            else [],
            list_page,
        )

    async def _grants(self, id: str) -> list[Cell]:
        """Returns the users with roles in the project, if the person may read them."""
        if not (self.may("user.grant.read") and self.may("user.read")):
            return []
        queries = [{"projectIdQuery": {"projectId": id}}]
        list_page = await fetch_page(self, "grants", _GRANTS, queries=queries)
        names = await self._names([grant["userId"] for grant in list_page.records])
        rows = [
            [
                cells.link(
                    names.get(grant["userId"]) or grant["userId"],
                    self.at(f"{CONSOLE}/users/{{userId}}", grant["userId"]),
                ),
                cells.codes(grant["roleKeys"]),
            ]
            for grant in list_page.records
        ]
        return [
            sub_list(
                message("Who has roles", context="projects"),
                [_NAME, message("Roles", context="projects")],
                rows,
                message(
                    "Nobody has roles here. They are given on a user's page.", context="projects"
                ),
                pages=list_page,
            )
        ]

    async def _names(self, ids: list[str]) -> dict[str, str]:
        """Returns the login names of those users that belong to this organization."""
        if not ids:
            return {}
        queries = [{"inUserIdsQuery": {"userIds": ids}}]
        answer = await self.run("POST /v2/users", document={"queries": queries})
        return {
            user["userId"]: user.get("preferredLoginName") or user["username"]
            for user in answer.get("result", ())
        }

    def _roles(self, id: str, found: list[dict[str, str]]) -> Cell:
        may, path = self.may("project.write"), f"{CONSOLE}{ONE}/roles"
        delete, change = message("Delete", context="console"), message("Change", context="console")
        return sub_list(
            message("Roles", context="projects"),
            [_KEY, _NAME, _GROUP, *([change, delete] if may else [])],
            [
                [
                    cells.code(role["key"]),
                    cells.text(role["displayName"]),
                    cells.text(role.get("group")),
                    *(
                        [
                            cells.link(
                                change, self.at(f"{path}/{{roleKey}}/edit", id, role["key"])
                            ),
                            cells.link(
                                delete, self.at(f"{path}/{{roleKey}}/delete", id, role["key"])
                            ),
                        ]
                        if may
                        else []
                    ),
                ]
                for role in found
            ],
            message("The project has no roles.", context="projects"),
            [action_link(message("New role", context="projects"), self.at(f"{path}/new", id))]
            if may
            else [],
        )


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ProjectsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ProjectHandler),
]

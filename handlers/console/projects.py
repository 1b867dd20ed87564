"""The console's pages of projects and their roles."""

from __future__ import annotations

from typing import Final

from handlers.console import project_grants
from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message

PATH: Final = "/projects"
PAGE_PATH: Final = f"{PATH}/{{projectId}}"
_SECTION: Final = "projects"

_NAME: Final = message("Name", context="console")
_STATE: Final = message("State", context="console")
_ID: Final = message("ID", context="console")
_CREATED: Final = message("Created", context="console")
_KEY: Final = message("Key", context="console")
_GROUP: Final = message("Group", context="console")

_NAME_FIELD: Final = FormField(path="name", label=_NAME, is_required=True)
_ROLE_FIELDS: Final = (
    FormField(
        path="roleKey",
        label=_KEY,
        hint=message(
            "The value that applications receive, without spaces, such as admin.",
            context="projects",
        ),
        direction="ltr",
        is_required=True,
    ),
    FormField(path="displayName", label=_NAME, is_required=True),
    FormField(path="group", label=_GROUP, is_sent_empty=True),
)


def _switch(name: str, label: Message) -> FormField:
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
    """Changes one role of a project. No operation returns a single role, so the list of the
    project's roles is searched for it."""

    async def load(self, *ids: str) -> Document:
        roles = (await self.run(api.projects.ROLES, ids[0])).get("result", ())
        matching_role: Document | None = next(
            (role for role in roles if role["key"] == ids[1]), None
        )
        if matching_role is None:
            raise NotFound("there is no such role")
        return matching_role


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=api.projects.CREATE,
        title=message("New project", context="projects"),
        intro=message(
            "A project contains related applications and the roles that users can have in them.",
            context="projects",
        ),
        button=message("Create the project", context="projects"),
        fields=(_NAME_FIELD,),
        next_path=f"{PATH}/{{id}}",
        confirmation="created",
        command="project create --name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/edit",
        section=_SECTION,
        operation=api.projects.CHANGE,
        loads=api.projects.READ,
        name="project.name",
        title=message("Change the project", context="projects"),
        button=message("Save", context="console"),
        fields=(
            FormField(path="name", label=_NAME, source="project.name", is_required=True),
            _switch(
                "hasProjectCheck",
                message(
                    "Only users of this organization and of those that it is granted to",
                    context="projects",
                ),
            ),
            _switch(
                "projectRoleCheck",
                message("Only users with a role in the project", context="projects"),
            ),
        ),
        next_path=PAGE_PATH,
        confirmation="saved",
        command="project change {projectId} --name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/deactivate",
        section=_SECTION,
        operation=api.projects.DEACTIVATE,
        loads=api.projects.READ,
        name="project.name",
        title=message("Deactivate the project", context="projects"),
        intro=message(
            "Users can't sign in to its applications until you reactivate "
            "it. All their tokens are revoked.",
            context="projects",
        ),
        button=message("Deactivate", context="console"),
        is_dangerous=True,
        next_path=PAGE_PATH,
        confirmation="deactivated",
        command="project deactivate {projectId}",
    ),
    Action(
        path=f"{PAGE_PATH}/reactivate",
        section=_SECTION,
        operation=api.projects.REACTIVATE,
        loads=api.projects.READ,
        name="project.name",
        title=message("Reactivate the project", context="projects"),
        button=message("Reactivate", context="console"),
        next_path=PAGE_PATH,
        confirmation="reactivated",
        command="project reactivate {projectId}",
    ),
    Action(
        path=f"{PAGE_PATH}/delete",
        section=_SECTION,
        operation=api.projects.REMOVE,
        loads=api.projects.READ,
        name="project.name",
        title=message("Delete the project", context="projects"),
        intro=message(
            "Its applications and roles are deleted and their tokens "
            "revoked. This can't be undone.",
            context="projects",
        ),
        button=message("Delete", context="console"),
        confirms=True,
        is_dangerous=True,
        next_path=PATH,
        confirmation="deleted",
        command="project delete {projectId}",
    ),
    Action(
        path=f"{PAGE_PATH}/roles/new",
        section=_SECTION,
        operation=api.projects.ADD_ROLE,
        loads=api.projects.READ,
        name="project.name",
        title=message("New role", context="projects"),
        button=message("Add the role", context="projects"),
        fields=_ROLE_FIELDS,
        next_path=PAGE_PATH,
        confirmation="added",
        command="role add --project {projectId} --key KEY --display-name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/roles/{{roleKey}}/edit",
        section=_SECTION,
        operation=api.projects.CHANGE_ROLE,
        title=message("Change the role", context="projects"),
        button=message("Save", context="console"),
        fields=_ROLE_FIELDS[1:],
        name="key",
        handler=RoleHandler,
        next_path=PAGE_PATH,
        confirmation="saved",
        command="role change --project {projectId} {roleKey} --display-name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/roles/{{roleKey}}/delete",
        section=_SECTION,
        operation=api.projects.REMOVE_ROLE,
        loads=api.projects.READ,
        name="project.name",
        title=message("Delete the role", context="projects"),
        intro=message("Users who have the role lose it.", context="projects"),
        button=message("Delete", context="console"),
        is_dangerous=True,
        next_path=PAGE_PATH,
        confirmation="deleted",
        command="role remove --project {projectId} {roleKey}",
    ),
)


class ProjectsHandler(ListHandler):
    """Lists the projects of the current organization."""

    section = _SECTION
    operation = api.projects.SEARCH
    title = message("Projects and roles", context="console")
    empty = message("No projects yet.", context="projects")
    columns = (_NAME, _STATE, _ID)
    command = "project list"

    def row(self, project: Document) -> list[Cell]:
        return [
            cells.link(project["name"], self.url_of(CONSOLE + PAGE_PATH, project["id"])),
            cells.state_cell(project.get("state", "")),
            cells.code(project["id"]),
        ]

    def actions(self) -> list[Cell]:
        label = message("New project", context="projects")
        return (
            [action_link(label, self.url_of(f"{CONSOLE}{PATH}/new"))]
            if self.may("project.write")
            else []
        )


class ProjectHandler(ConsoleHandler):
    """Shows one project with its applications, roles, organizations and users."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        (project_id,) = ids
        project = (await self.run(api.projects.READ, project_id))["project"]
        roles = (await self.run(api.projects.ROLES, project_id)).get("result", [])
        self.object_page(
            project["name"],
            state=cells.state(project.get("state", "")),
            properties=[
                labelled_cell(_ID, cells.code(project_id)),
                labelled_cell(_CREATED, cells.instant(project["details"].get("creationDate"))),
            ],
            actions=self._action_links(project_id, project),
            page_parts=[
                await self._apps(project_id),
                self._roles(project_id, roles),
                await project_grants.grant_list(self, project_id),
                *await self._grants(project_id),
            ],
            commands=self.shell(api.projects.READ, [project_id], "project show {projectId}"),
        )

    def _action_links(self, project_id: str, project: Cell) -> list[Cell]:
        if not self.may("project.write"):
            return []
        is_active = str(project.get("state", "")).endswith("_ACTIVE")
        state_change = "deactivate" if is_active else "reactivate"
        labels = {
            "edit": message("Change", context="console"),
            "deactivate": message("Deactivate", context="console"),
            "reactivate": message("Reactivate", context="console"),
            "delete": message("Delete", context="console"),
        }
        return [
            action_link(
                labels[action],
                self.url_of(f"{CONSOLE}{PAGE_PATH}/{action}", project_id),
                is_dangerous=action == "delete",
            )
            for action in ("edit", state_change, "delete")
        ]

    async def _apps(self, project_id: str) -> Cell:
        list_page = await fetch_page(self, "apps", api.applications.SEARCH, project_id)
        url = self.url_of(f"{CONSOLE}/applications/new", project=project_id)
        path = f"{CONSOLE}{PAGE_PATH}/applications/{{appId}}"
        return sub_list(
            message("Applications", context="console"),
            [_NAME, _STATE, message("Client ID", context="console")],
            [
                [
                    cells.link(
                        app["name"],
                        self.url_of(path, project_id, app["id"]),
                    ),
                    cells.state_cell(app.get("state", "")),
                    cells.code(app["id"]),
                ]
                for app in list_page.records
            ],
            message("No applications yet.", context="projects"),
            [action_link(message("New application", context="console"), url)]
            if self.may("project.app.write")
            else [],
            list_page,
        )

    async def _grants(self, project_id: str) -> list[Cell]:
        """Returns the users with roles in the project, if the person may read them."""
        if not (self.may("user.grant.read") and self.may("user.read")):
            return []
        queries = [{"projectIdQuery": {"projectId": project_id}}]
        list_page = await fetch_page(self, "grants", api.users.SEARCH_GRANTS, queries=queries)
        names = await self._names([grant["userId"] for grant in list_page.records])
        rows = [
            [
                cells.link(
                    names.get(grant["userId"]) or grant["userId"],
                    self.url_of(f"{CONSOLE}/users/{{userId}}", grant["userId"]),
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
                    "No user has roles here. Assign them on a user's page.", context="projects"
                ),
                pages=list_page,
            )
        ]

    async def _names(self, ids: list[str]) -> dict[str, str]:
        """Returns the login names of those users that belong to this organization."""
        if not ids:
            return {}
        queries = [{"inUserIdsQuery": {"userIds": ids}}]
        answer = await self.run(api.users.SEARCH, document={"queries": queries})
        return {
            user["userId"]: user.get("preferredLoginName") or user["username"]
            for user in answer.get("result", ())
        }

    def _roles(self, project_id: str, roles: list[dict[str, str]]) -> Cell:
        may_change, path = self.may("project.write"), f"{CONSOLE}{PAGE_PATH}/roles"
        delete, change = message("Delete", context="console"), message("Change", context="console")
        return sub_list(
            message("Roles", context="projects"),
            [_KEY, _NAME, _GROUP, *([change, delete] if may_change else [])],
            [
                [
                    cells.code(role["key"]),
                    cells.text(role["displayName"]),
                    cells.text(role.get("group")),
                    *(
                        [
                            cells.link(
                                change,
                                self.url_of(f"{path}/{{roleKey}}/edit", project_id, role["key"]),
                            ),
                            cells.link(
                                delete,
                                self.url_of(f"{path}/{{roleKey}}/delete", project_id, role["key"]),
                            ),
                        ]
                        if may_change
                        else []
                    ),
                ]
                for role in roles
            ],
            message("The project has no roles.", context="projects"),
            [
                action_link(
                    message("New role", context="projects"), self.url_of(f"{path}/new", project_id)
                )
            ]
            if may_change
            else [],
        )


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ProjectsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", ProjectHandler),
]

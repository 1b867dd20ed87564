"""The console's pages of groups: their members and their roles in projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from handlers.console.actions import Action, ActionHandler, routes
from handlers.console.base import ConsoleHandler
from handlers.console.lists import ListHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users import project_roles
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, labelled_cell, sub_list
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound, PermissionDenied
from idp.foundation.i18n import message
from idp.oauth.params import Params

PATH: Final = "/groups"
PAGE_PATH: Final = f"{PATH}/{{groupId}}"
_SECTION: Final = "groups"

_NAME: Final = message("Name", context="console")
_ID: Final = message("ID", context="console")
_EXTERNAL_ID: Final = message("External ID", context="groups")
_MEMBER_COUNT: Final = message("Members", context="groups")
_ROLES: Final = message("Roles", context="console")
_ADD_USER: Final = message("Add a user", context="groups")
_REMOVE: Final = message("Remove", context="console")

_FIELDS: Final = (
    FormField(path="name", source="group.name", label=_NAME, is_required=True),
    FormField(
        path="externalId",
        source="group.externalId",
        label=_EXTERNAL_ID,
        hint=message("The ID in the system that the group comes from.", context="groups"),
        direction="ltr",
        is_sent_empty=True,
    ),
)
_USER: Final = FormField(
    path="userIds",
    label=message("Username or email", context="members"),
    hint=message("You can enter an email if only one user has it.", context="members"),
    direction="ltr",
    is_required=True,
)


class NewMemberHandler(ActionHandler):
    """Adds a user, entered by login name, to a group."""

    async def resolved(self, values: Values) -> Values:
        query = {"loginNameQuery": {"loginName": values["userIds"]}}
        answer = await self.run(api.users.SEARCH, document={"queries": [query]})
        if not answer.get("result"):
            raise InvalidArgument([FieldProblem("user.not_found", "userIds", "names no user")])
        return {**values, "userIds": [answer["result"][0]["userId"]]}

    def request_body(self, values: Values) -> Document:
        return {"userIds": values["userIds"]}


class MemberRemovalHandler(ActionHandler):
    """Removes the user that the address names from a group."""

    async def act(self, form: Params, values: Values, ids: Sequence[str]) -> Document:
        group_id, user_id = ids
        return await self.run(
            self.action.operation,
            group_id,
            document={"userId": user_id},
            idempotency_key=form.get("once"),
        )


class GroupRolesHandler(ActionHandler):
    """Replaces the roles that a group has in a project."""

    _projects: Sequence[Document] | None = None

    def fields(self) -> Sequence[FormField]:
        return project_roles.fields_of(self._projects)

    async def load(self, *ids: str) -> Document:
        self._projects = await project_roles.readable_projects(self)
        return await super().load(*ids)

    async def act(self, form: Params, values: Values, ids: Sequence[str]) -> Document:
        body = self.request_body(values)
        project_id = str(body.pop("projectId", ""))
        if not project_id:
            raise InvalidArgument([FieldProblem("field.required", "projectId", "is required")])
        return await self.run(
            self.action.operation,
            *ids,
            project_id,
            document=body,
            idempotency_key=form.get("once"),
        )

    def _ids_of(self, operation: Operation, ids: Sequence[str]) -> list[str]:
        ids_by_name = self._by_name(ids)
        return [ids_by_name.get(name, "PROJECT") for name in operation.parameters]


ACTIONS: Final = (
    Action(
        path=f"{PATH}/new",
        section=_SECTION,
        operation=api.groups.CREATE,
        title=message("New group", context="groups"),
        intro=message(
            "A group contains users of this organization and gives them its roles in projects.",
            context="groups",
        ),
        button=message("Create the group", context="groups"),
        fields=_FIELDS,
        next_path=f"{PATH}/{{id}}",
        confirmation="created",
        command="group create --name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/edit",
        section=_SECTION,
        operation=api.groups.CHANGE,
        loads=api.groups.READ,
        name="group.name",
        title=message("Change the group", context="groups"),
        button=message("Save", context="console"),
        fields=_FIELDS,
        next_path=PAGE_PATH,
        confirmation="saved",
        command="group change {groupId} --name NAME",
    ),
    Action(
        path=f"{PAGE_PATH}/delete",
        section=_SECTION,
        operation=api.groups.REMOVE,
        loads=api.groups.READ,
        name="group.name",
        title=message("Delete the group", context="groups"),
        intro=message("Its members lose the roles that the group gives them.", context="groups"),
        button=message("Delete", context="console"),
        is_dangerous=True,
        next_path=PATH,
        confirmation="deleted",
        command="group delete {groupId}",
    ),
    Action(
        path=f"{PAGE_PATH}/members/new",
        section=_SECTION,
        operation=api.groups.ADD_MEMBERS,
        loads=api.groups.READ,
        name="group.name",
        handler=NewMemberHandler,
        title=_ADD_USER,
        button=message("Add", context="console"),
        fields=(_USER,),
        next_path=PAGE_PATH,
        confirmation="added",
        command="group add-user {groupId} --user-id ID",
    ),
    Action(
        path=f"{PAGE_PATH}/members/{{userId}}/remove",
        section=_SECTION,
        operation=api.groups.REMOVE_MEMBERS,
        loads=api.groups.READ,
        name="group.name",
        handler=MemberRemovalHandler,
        title=message("Remove the user from the group", context="groups"),
        intro=message("The user loses the roles that only this group gives.", context="groups"),
        button=_REMOVE,
        is_dangerous=True,
        next_path=PAGE_PATH,
        confirmation="removed",
        command="group remove-user {groupId} --user-id {userId}",
    ),
    Action(
        path=f"{PAGE_PATH}/grants/new",
        section=_SECTION,
        operation=api.groups.SET_GRANT,
        loads=api.groups.READ,
        name="group.name",
        handler=GroupRolesHandler,
        title=message("Assign roles", context="users"),
        intro=message(
            "These roles replace the group's current roles in the project.",
            context="groups",
        ),
        button=message("Assign roles", context="users"),
        next_path=PAGE_PATH,
        confirmation="added",
        command="group grant {groupId} --project ID --role-key KEY",
    ),
    Action(
        path=f"{PAGE_PATH}/grants/{{projectId}}/remove",
        section=_SECTION,
        operation=api.groups.REMOVE_GRANT,
        loads=api.groups.READ,
        name="group.name",
        title=message("Remove the roles", context="users"),
        intro=message("Members lose the roles that only this group gives.", context="groups"),
        button=_REMOVE,
        is_dangerous=True,
        next_path=PAGE_PATH,
        confirmation="removed",
        command="group revoke {groupId} --project {projectId}",
    ),
)


class GroupsHandler(ListHandler):
    """Lists the groups of the current organization."""

    section = _SECTION
    operation = api.groups.SEARCH
    title = message("Groups", context="console")
    icon = "users"
    empty = message("No groups yet.", context="groups")
    search = (
        FormField(
            path="name",
            label=message("Name begins with", context="organizations"),
            related_paths=("queries",),
        ),
    )
    columns = (_NAME, _MEMBER_COUNT, _ID)
    command = "group list"

    def queries(self, values: Values) -> list[Document]:
        method = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
        return [{"nameQuery": {"name": values["name"], **method}}] if values["name"] else []

    def row(self, group: Document) -> list[Cell]:
        return [
            cells.link(group["name"], self.url_of(CONSOLE + PAGE_PATH, group["id"])),
            cells.text(str(group.get("memberCount", 0))),
            cells.code(group["id"]),
        ]

    def actions(self) -> list[Cell]:
        label = message("New group", context="groups")
        return (
            [action_link(label, self.url_of(f"{CONSOLE}{PATH}/new"))]
            if self.may("group.write")
            else []
        )


class GroupHandler(ConsoleHandler):
    """Shows one group with its roles and its members."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        (group_id,) = ids
        group = (await self.run(api.groups.READ, group_id))["group"]
        self.object_page(
            group["name"],
            properties=[
                labelled_cell(_ID, cells.code(group_id)),
                labelled_cell(_EXTERNAL_ID, cells.code(group.get("externalId"))),
                labelled_cell(_MEMBER_COUNT, cells.text(str(group.get("memberCount", 0)))),
                labelled_cell(
                    message("Created", context="console"),
                    cells.instant(group["details"].get("creationDate")),
                ),
            ],
            actions=self._action_links(group_id),
            page_parts=[await self._grants(group_id, group), await self._members(group_id)],
            commands=self.shell(api.groups.READ, [group_id], "group show {groupId}"),
        )

    def _action_links(self, group_id: str) -> list[Cell]:
        if not self.may("group.write"):
            return []
        edit, delete = (
            self.url_of(f"{CONSOLE}{PAGE_PATH}/{action}", group_id)
            for action in ("edit", "delete")
        )
        return [
            action_link(message("Change", context="console"), edit),
            action_link(message("Delete", context="console"), delete, is_dangerous=True),
        ]

    async def _grants(self, group_id: str, group: Document) -> Cell:
        may_change, path = self.may("group.write"), f"{CONSOLE}{PAGE_PATH}/grants"
        grants = group.get("grants", [])
        names = [await self._project_name(grant["projectId"]) for grant in grants]
        return sub_list(
            message("Roles in projects", context="users"),
            [message("Project", context="console"), _ROLES, *([_REMOVE] if may_change else [])],
            [
                [
                    cells.text(name),
                    cells.codes(grant["roleKeys"]),
                    *self._removal(
                        may_change, f"{path}/{{projectId}}", group_id, grant["projectId"]
                    ),
                ]
                for grant, name in zip(grants, names, strict=True)
            ],
            message("The group has no role in any project.", context="groups"),
            [
                action_link(
                    message("Assign roles", context="users"), self.url_of(f"{path}/new", group_id)
                )
            ]
            if may_change
            else [],
        )

    async def _project_name(self, project_id: str) -> str:
        """Returns the name of a project, or its id if the person may not read it."""
        try:
            answer = await self.run(api.projects.READ, project_id)
        except (NotFound, PermissionDenied):
            return project_id
        return str(answer["project"]["name"])

    async def _members(self, group_id: str) -> Cell:
        list_page = await fetch_page(self, "members", api.groups.SEARCH_MEMBERS, group_id)
        may_change, path = self.may("group.write"), f"{CONSOLE}{PAGE_PATH}/members"
        return sub_list(
            message("Members", context="groups"),
            [
                _NAME,
                message("Username or email", context="members"),
                message("Source", context="groups"),
                *([_REMOVE] if may_change else []),
            ],
            [
                [
                    cells.link(
                        member.get("displayName") or member["userId"],
                        self.url_of(f"{CONSOLE}/users/{{userId}}", member["userId"]),
                    ),
                    cells.code(member.get("preferredLoginName")),
                    cells.codes(member["sources"]),
                    *self._removal(may_change, f"{path}/{{userId}}", group_id, member["userId"]),
                ]
                for member in list_page.records
            ],
            message("The group has no members.", context="groups"),
            [
                action_link(
                    message("Add a user", context="groups"), self.url_of(f"{path}/new", group_id)
                )
            ]
            if may_change
            else [],
            list_page,
        )

    def _removal(self, may_change: bool, path: str, *ids: str) -> list[Cell]:
        return [cells.link(_REMOVE, self.url_of(f"{path}/remove", *ids))] if may_change else []


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, GroupsHandler),
    (f"{CONSOLE}{PATH}/([^/]+)", GroupHandler),
]

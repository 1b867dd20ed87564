"""The console's list of applications, and the page of a single application."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from handlers.console.actions import routes
from handlers.console.applications import client_secrets, connect, registered_keys
from handlers.console.applications import settings as application_settings
from handlers.console.applications.actions import ACTIONS, PAGE_PATH
from handlers.console.events import entries as event_entries
from handlers.console.lists import ListHandler
from handlers.console.projects import PAGE_PATH as PROJECT_PATH
from handlers.console.sections import CONSOLE
from handlers.console.tabs import Tab, TabbedHandler, tab_routes
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, cell, labelled_cell, sub_list
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.errors import NotFound
from idp.foundation.i18n import Message, message

PATH: Final = "/applications"
_SECTION: Final = "applications"
_NAME: Final = message("Name", context="console")
_PROJECT: Final = message("Project", context="console")
_STATE: Final = message("State", context="console")
_CLIENT_ID: Final = message("Client ID", context="console")

_MAX_RESULTS: Final = {"query": {"limit": 1000}}
_ACTION_LABELS: Final = {
    "test": message("Test sign-in", context="applications"),
    "settings": message("Change settings", context="applications"),
    "rename": message("Rename", context="console"),
    "secret": message("New secret", context="applications"),
    "debug": message("Explain errors for an hour", context="applications"),
    "debug/end": message("Stop explaining errors", context="applications"),
    "deactivate": message("Deactivate", context="console"),
    "reactivate": message("Reactivate", context="console"),
    "delete": message("Delete", context="console"),
}


# Tabs that APIs don't have, which only verify tokens.
_OF_CLIENTS: Final = ("connect", "urls", "tokens", "access")


class ConsoleApplicationsHandler(ListHandler):
    """Lists the applications of the current organization, grouped by project."""

    section = _SECTION
    operation = api.projects.SEARCH
    title = message("Applications", context="console")
    icon = "app-window"
    empty = message("No applications yet.", context="projects")
    columns = (_NAME, _STATE, _CLIENT_ID)
    command = "app list --project ID"

    async def run(self, operation: Operation, *ids: str, **arguments: Any) -> Document:
        """Runs an operation. For the search of projects, returns the applications of each project
        found, because no operation searches the applications of several projects."""
        answer = await super().run(operation, *ids, **arguments)
        if operation is not self.operation:
            return answer
        result = []
        for project in answer.get("result", ()):
            apps = await super().run(api.applications.SEARCH, project["id"], document=_MAX_RESULTS)
            result += [{**app, "project": project} for app in apps.get("result", ())]
        # The total counts projects, so it is left out.
        return {**answer, "result": result, "details": {}}

    def row(self, application: Document) -> list[Cell]:
        project = application["project"]
        url = self.url_of(CONSOLE + PAGE_PATH, project["id"], application["id"])
        return [
            cells.link(f"{project['name']} / {application['name']}", url),
            cells.state_cell(application.get("state", "")),
            cells.code(application["id"]),
        ]

    def actions(self) -> list[Cell]:
        label = message("New application", context="console")
        return (
            [action_link(label, self.url_of(f"{CONSOLE}{PATH}/new"))]
            if self.may("project.app.write")
            else []
        )


class ApplicationHandler(TabbedHandler):
    """Shows one tab of the page of an application."""

    section = _SECTION
    page_path = PAGE_PATH
    tabs: ClassVar = {
        "": Tab(message("Overview", context="console"), "project.app.read"),
        "connect": Tab(message("How to connect", context="applications"), "project.app.read"),
        "credentials": Tab(message("Credentials", context="applications"), "project.app.read"),
        "urls": Tab(message("URLs", context="applications"), "project.app.read"),
        "tokens": Tab(message("Tokens", context="applications"), "project.app.read"),
        "access": Tab(message("Access", context="applications"), "project.app.read"),
        "activity": Tab(message("Activity", context="users"), "events.read"),
    }

    async def show(self, *ids: str) -> None:
        self.check_tab()
        app = (await self.run(api.applications.READ, *ids))["app"]
        is_first, absent = not self.tab, _OF_CLIENTS if "apiConfig" in app else ()
        if self.tab in absent:
            raise NotFound("an API has no such tab")
        self.object_page(
            app["name"],
            state=cells.state(app.get("state", "")),
            tabs=self.tab_links(ids, absent),
            properties=await self._properties(ids, app) if is_first else (),
            actions=self._action_links(ids, app) if is_first else (),
            page_parts=_problems(app) if is_first else await self._parts(ids, app),
            commands=self.shell(
                api.applications.READ, ids, "app show --project {projectId} {appId}"
            ),
        )

    async def _properties(self, ids: tuple[str, ...], app: Document) -> list[Cell]:
        project = (await self.run(api.projects.READ, ids[0]))["project"]
        project_link = cells.link(project["name"], self.url_of(CONSOLE + PROJECT_PATH, ids[0]))
        until = app.get("explainsUntil")
        explained = message("Errors are explained until", context="applications")
        return [
            labelled_cell(_PROJECT, project_link),
            labelled_cell(_CLIENT_ID, cells.code(app["id"])),
            *application_settings.identification(app),
            labelled_cell(
                message("Created", context="console"),
                cells.instant(app["details"].get("creationDate")),
            ),
            *([labelled_cell(explained, cells.instant(until))] if until else []),
        ]

    async def _parts(self, ids: tuple[str, ...], app: Document) -> list[Document]:
        """Returns the lists of the current tab."""
        may_change = self.may("project.app.write")
        if self.tab == "credentials":
            return [
                *await client_secrets.sub_lists(
                    self, PAGE_PATH, api.applications.SECRETS, ids, may_change=may_change
                ),
                await registered_keys.sub_list(
                    self, PAGE_PATH, api.applications.SEARCH_KEYS, ids, may_change=may_change
                ),
            ]
        if self.tab == "activity":
            return [await event_entries.of_record(self, ids[-1])]
        if self.tab == "connect":
            return connect.parts(self, ids, app)
        settings_url = self.url_of(f"{CONSOLE}{PAGE_PATH}/settings", *ids)
        change = [action_link(_ACTION_LABELS["settings"], settings_url)] if may_change else []
        title = self.tabs[self.tab].label
        return [application_settings.part(app, self.tab, title, change)]

    def _action_links(self, ids: tuple[str, ...], app: Document) -> list[Cell]:
        is_api = "apiConfig" in app
        actions = ["test"] if not is_api else []
        if self.may("project.app.write"):
            method = (app.get("apiConfig") or app["oidcConfig"]).get("authMethodType", "")
            is_active = str(app.get("state", "")).endswith("_ACTIVE")
            actions += ["settings", "rename"]
            actions += ["secret"] if method.endswith(("_BASIC", "_POST")) else []
            actions += ["debug/end" if app.get("explainsUntil") else "debug"] if not is_api else []
            actions += ["deactivate" if is_active else "reactivate", "delete"]
        kind = "api-settings" if is_api else "settings"
        return [
            action_link(
                _ACTION_LABELS[name],
                self.url_of(f"{CONSOLE}{PAGE_PATH}/{kind if name == 'settings' else name}", *ids),
                is_dangerous=name in ("deactivate", "delete"),
            )
            for name in actions
        ]


def _problems(app: Document) -> list[dict[str, Any]]:
    """Returns the sub-list of settings of the application that violate the standards."""
    problems = app.get("oidcConfig", {}).get("complianceProblems", [])
    if not problems:
        return []
    column = message("Problem", context="applications")
    rows = [[cell(Message(problem["localizedMessage"]))] for problem in problems]
    return [sub_list(message("Warnings", context="applications"), [column], rows, column)]


ROUTES = [
    *routes(ACTIONS),
    (CONSOLE + PATH, ConsoleApplicationsHandler),
    *tab_routes(f"{CONSOLE}/projects/([^/]+)/applications/([^/]+)", ApplicationHandler),
]

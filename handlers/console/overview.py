"""/ui/console: figures over time, the newest events, and a checklist for a new installation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from handlers.console import figures
from handlers.console.base import ConsoleHandler
from handlers.console.events import entries as event_entries
from handlers.console.events import log as event_log
from handlers.console.sections import CONSOLE, SECTIONS, open_to
from handlers.forms.cells import action_link
from handlers.pages.base import PageHandler
from idp import api
from idp.audit import retention
from idp.foundation.i18n import Message, message
from idp.identity.users.permissions import Permission
from idp.limits.admission import MANAGEMENT
from idp.management.instance import onboarding as instance_onboarding
from idp.management.instance.onboarding import Checklist

_EVENTS: Final = 8


class Task(Struct, frozen=True):
    """A task of the checklist. `is_done` returns whether it is done, None if that is unknown."""

    title: Message
    text: Message
    is_done: Callable[[Checklist], bool | None]
    path: str = ""
    section: str = ""


TASKS: Final = (
    Task(
        message("Replace the one-time password", context="checklist"),
        message("It was printed at the first start and can be used once.", context="checklist"),
        lambda checklist: checklist.password,
        "/ui/account/password",
    ),
    Task(
        message("Create an organization", context="checklist"),
        message(
            "Each customer, department or team can have its own users, "
            "applications and administrators.",
            context="checklist",
        ),
        lambda checklist: checklist.organization,
        f"{CONSOLE}/organizations/new",
        "organizations",
    ),
    Task(
        message("Create an application", context="checklist"),
        message("Register an app that your users sign in to.", context="checklist"),
        lambda checklist: checklist.application,
        f"{CONSOLE}/applications/new",
        "applications",
    ),
    Task(
        message("Test the sign-in", context="checklist"),
        message("Preview the claims your application will receive.", context="checklist"),
        lambda checklist: checklist.sign_in,
        f"{CONSOLE}/applications",
        "applications",
    ),
    Task(
        message("Add a second owner", context="checklist"),
        message("So that losing one password can't lock you out.", context="checklist"),
        lambda checklist: checklist.owner,
        f"{CONSOLE}/administrators/new",
        "administrators",
    ),
    Task(
        message("Connect a mail server", context="checklist"),
        message(
            "Without one, emails are captured. With one, send yourself a test.",
            context="checklist",
        ),
        lambda checklist: checklist.mail,
        f"{CONSOLE}/mail",
        "mail",
    ),
    Task(
        message("Back up the data", context="checklist"),
        message(
            "Run idp backup FILE on the server. It writes the database and master.key to one file,"
            " while the service runs.",
            context="checklist",
        ),
        lambda checklist: None,
    ),
)


class ConsoleOverviewHandler(ConsoleHandler):
    """Shows figures over time, the newest events, and the checklist of a new installation: to
    persons who may read the installation those of all, unless the address names an organization,
    and to others those of their organization. Persons who may read neither get links to the
    sections that they may open."""

    async def show(self, *ids: str) -> None:
        is_for_all = "iam.read" in self.console_session.rights.everywhere
        org_id = None if is_for_all and self.named_org_id is None else self.org_id
        has_figures = org_id is None or self.may("org.read")
        checklist = await instance_onboarding.read_checklist(self.service) if is_for_all else None
        self.page(
            "console/overview",
            scope=self.organization.name if org_id and self.organization else None,
            figures=await figures.values(self, org_id, self.bundle(), self.time_zone())
            if has_figures
            else None,
            events=await self._events(org_id),
            actions=self._actions(),
            commands=self._commands(org_id) if has_figures else [],
            sections=[] if has_figures else self._sections(),
            **self._tasks(checklist),
        )

    def _actions(self) -> list[dict[str, object]]:
        """Returns the links to what administrators most often create."""
        links: dict[Permission, tuple[Message, str]] = {
            "user.write": (message("New user", context="users"), "users/new"),
            "project.app.write": (
                message("New application", context="console"),
                "applications/new",
            ),
        }
        return [
            action_link(label, self.url_of(f"{CONSOLE}/{path}"))
            for permission, (label, path) in links.items()
            if self.may(permission)
        ]

    def _commands(self, org_id: str | None) -> list[dict[str, object]]:
        scope = {"orgId": org_id} if org_id else {}
        document = {"kinds": ["sign_in"], "from": "…", "step": "DAY", **scope}
        return self.shell(api.usage.SEARCH, [], "usage search --kind sign_in", document)

    async def _events(self, org_id: str | None) -> dict[str, object] | None:
        """Returns the newest events that the person may read, None if they may read none."""
        if org_id is not None and not self.may("events.read"):
            return None
        operation = api.events.SEARCH if org_id else api.events.SEARCH_EVERYWHERE
        answer = await self.run(operation, document={"limit": _EVENTS}, org_id=org_id)
        path = event_log.PATH if org_id else f"{event_log.PATH}/installation"
        return {
            "entries": await event_entries.entries(self, answer.get("events", ()), org_id),
            "url": self.url_of(path),
        }

    def _tasks(self, checklist: Checklist | None) -> dict[str, Any]:
        """Returns the values of the checklist; there is none without `checklist`."""
        if checklist is None:
            return {"tasks": [], "progress": None}
        states = [task.is_done(checklist) for task in TASKS]
        tasks = [self._task_values(*each) for each in zip(TASKS, states, strict=True)]
        return {
            "tasks": tasks + self._removal(checklist),
            "progress": (states.count(True), len(states) - states.count(None)),
        }

    def _sections(self) -> list[dict[str, object]]:
        return [
            {"label": section.label, "url": self.url_of(section.path)}
            for name, section in open_to(self.console_session.rights).items()
            if name != self.section
        ]

    def _task_values(self, task: Task, is_done: bool | None) -> dict[str, object]:
        has_section = not task.section or task.section in SECTIONS
        url = task.path if has_section and task.path else None
        return {"title": task.title, "text": task.text, "is_done": is_done, "url": url}

    def _removal(self, checklist: Checklist) -> list[dict[str, object]]:
        """Returns the task to decide for how long events are stored; an empty list once the
        removal of events has begun, some time after an upgrade."""
        if checklist.removes_from is None:
            return []
        days = retention.days_by_stream(self.service.config)
        text = message(
            "From %(date)s on, old events are removed from the audit log. "
            "Sessions and authorizations: after %(access)s days; refused "
            "attempts: after %(failure)s; changes: after %(change)s (0: "
            "never). To change this, set audit_access_days, "
            "audit_failure_days and audit_change_days.",
            context="checklist",
            date=f"{checklist.removes_from:%Y-%m-%d}",
            **{name: str(number) for name, number in days.items()},
        )
        title = message("Decide how long events are stored", context="checklist")
        return [{"title": title, "text": text, "is_done": None, "url": None}]


class SlashHandler(PageHandler):
    """Redirects the address with a trailing slash to the one without, permanently."""

    group = MANAGEMENT

    async def get(self) -> None:
        query = self.request.query
        self.redirect(CONSOLE + (f"?{query}" if query else ""), status=308)


ROUTES = [(CONSOLE, ConsoleOverviewHandler), (f"{CONSOLE}/", SlashHandler)]

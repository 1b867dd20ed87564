"""/ui/console: links to the sections, and a checklist for a new installation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.projects import PROJECT
from handlers.console.sections import CONSOLE, SECTIONS, open_to
from handlers.forms.run_operation import BY_NAME
from handlers.http.admission import MANAGEMENT
from handlers.pages.base import PageHandler
from idp.audit import retention
from idp.foundation.i18n import Message, message
from idp.management.instance import onboarding as instance_onboarding
from idp.management.instance.onboarding import Checklist


class Task(Struct, frozen=True):
    """A task of the checklist. `is_done` returns whether it is done, or None if that is unknown.

    `operation` with `body`, and `command`, do the task in a shell, where that is possible.
    """

    title: Message
    text: Message
    is_done: Callable[[Checklist], bool | None]
    path: str = ""
    section: str = ""
    operation: str = ""
    body: Mapping[str, Any] = {}
    command: str = ""


TASKS: Final = (
    Task(
        message("Replace the one-time password", context="checklist"),
        message("The password that the first start printed counts once.", context="checklist"),
        lambda found: found.password,
        "/ui/account/password",
        operation="POST /v2/users/{userId}/password",
        body={"newPassword": {"password": "…"}},
        command="user set-password {userId} --password-file -",
    ),
    Task(
        message("Create an organization", context="checklist"),
        message(
            "Each customer, department or team can have its own people, applications and"
            " administrators.",
            context="checklist",
        ),
        lambda found: found.organization,
        f"{CONSOLE}/organizations/new",
        "organizations",
        operation="POST /admin/v1/orgs/_setup",
        body={
            "org": {"name": "…"},
            "human": {
                "userName": "…",
                "profile": {"firstName": "…", "lastName": "…"},
                "email": {"email": "…"},
            },
        },
        command="org create --name NAME --owner-user-name USER --owner-email EMAIL"
        " --owner-first-name FIRST --owner-last-name LAST",
    ),
    Task(
        message("Create an application", context="checklist"),
        message("Whatever people are to sign in to.", context="checklist"),
        lambda found: found.application,
        f"{CONSOLE}/applications/new",
        "applications",
        operation=f"POST {PROJECT}/apps/oidc",
        body={"name": "…", "redirectUris": ["…"]},
        command="app create --project ID --name NAME --preset PRESET --host HOST",
    ),
    Task(
        message("Test a sign-in", context="checklist"),
        message("See what your application will be told.", context="checklist"),
        lambda found: found.sign_in,
        f"{CONSOLE}/applications",
        "applications",
    ),
    Task(
        message("Make somebody else an owner, too", context="checklist"),
        message("So that one lost password locks nobody out of everything.", context="checklist"),
        lambda found: found.owner,
        f"{CONSOLE}/administrators/new",
        "administrators",
        operation="POST /admin/v1/members",
        body={"userId": "…", "roles": ["IAM_OWNER"]},
        command="member add --instance --user ID --role IAM_OWNER",
    ),
    Task(
        message("Connect a mail server", context="checklist"),
        message("Without one, mail is held. With one, send yourself a test.", context="checklist"),
        lambda found: found.mail,
        f"{CONSOLE}/mail",
        "mail",
        operation="POST /admin/v1/mail/_test",
        body={"to": "…"},
        command="mail test ADDRESS",
    ),
    Task(
        message("Back up the data", context="checklist"),
        message(
            "The database and the file master.key belong together: one is worth nothing without"
            " the other.",
            context="checklist",
        ),
        lambda found: None,
        command="backup FILE",
    ),
)


class ConsoleOverviewHandler(ConsoleHandler):
    """Shows the checklist to persons who may read the installation, and to others links to the
    sections that they may open."""

    async def show(self, *ids: str) -> None:
        tasks: list[dict[str, object]] = []
        if "iam.read" in self.visit.rights.everywhere:
            found = await instance_onboarding.read_checklist(self.service)
            tasks = [self._task_values(task, task.is_done(found)) for task in TASKS]
            tasks += self._removal(found)
        self.page(
            "console/overview",
            tasks=tasks,
            sections=[] if tasks else self._sections(),
            commands=[self._by_hand(task) for task in TASKS if task.operation] if tasks else [],
        )

    def _sections(self) -> list[dict[str, object]]:
        return [
            {"label": section.label, "url": self.at(section.path)}
            for name, section in open_to(self.visit.rights).items()
            if name != self.section
        ]

    def _by_hand(self, task: Task) -> dict[str, object]:
        operation = BY_NAME[task.operation]
        names = {"userId": self.visit.user.id}
        ids = [names.get(name, "ID") for name in operation.parameters]
        org_id = None if operation.permission.startswith("iam.") else self.org_id
        lines = commands.rendered(
            self.service.config, operation, ids, dict(task.body), org_id, task.command
        )
        return {"label": task.title, "line": "\n\n".join(str(one["line"]) for one in lines)}

    def _task_values(self, task: Task, is_done: bool | None) -> dict[str, object]:
        is_there = not task.section or task.section in SECTIONS
        url = task.path if is_there and task.path else None
        return {"title": task.title, "text": task.text, "is_done": is_done, "url": url}

    def _removal(self, found: Checklist) -> list[dict[str, object]]:
        """The task to decide for how long events stay, until removal begins after an upgrade."""
        if found.removes_from is None:
            return []
        days = retention.days_by_stream(self.service.config)
        text = message(
            "From %(date)s on, old events are removed from the audit log: sessions and"
            " authorizations after %(access)s days, refused attempts after %(failure)s, changes"
            " after %(change)s (0: never). The settings audit_access_days, audit_failure_days and"
            " audit_change_days change that.",
            context="checklist",
            date=f"{found.removes_from:%Y-%m-%d}",
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

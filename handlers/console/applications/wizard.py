"""The console's page that registers an application, with presets for well-known tools.

Every choice is a link or a field of one form, so that the page needs no script. The settings of a
preset are displayed with their reasons before the form is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from handlers.console import commands
from handlers.console.applications import settings as application_settings
from handlers.console.applications.actions import PAGE_PATH
from handlers.console.applications.settings import (
    AFTER_LOGOUT,
    KINDS,
    METHOD,
    ONE_PER_LINE,
    REDIRECTS,
)
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.clients import presets
from idp.clients.presets.preset import Kind, Preset
from idp.clients.wire_names import APP_TYPES
from idp.foundation.errors import AlreadyExists, FailedPrecondition, IdpError, InvalidArgument
from idp.foundation.i18n import Message, message
from idp.management.projects import oidc_apps, read_presets
from idp.oauth.params import Params
from idp.schema import reading

PATH: Final = f"{CONSOLE}/applications/new"
# Errors that the form displays; others become an error page.
_FORM_ERRORS: Final = (InvalidArgument, AlreadyExists, FailedPrecondition)
_HOST: Final = "host"
_PROJECT: Final = "projectId"
_MAX_PROJECTS: Final = 100

_CARDS: Final[Mapping[Kind, Message]] = {
    "web": message(
        "Runs on a server and can keep a secret: Django, Grafana, a proxy.", context="applications"
    ),
    "user_agent": message(
        "Runs only in the browser. Anyone can read its code.", context="applications"
    ),
    "native": message("Is installed on users' devices: apps, kubectl.", context="applications"),
    "api": message(
        "Doesn't sign users in. Checks the tokens that other applications send.",
        context="applications",
    ),
}
_LABELS: Final = {field.path: field.label for field in application_settings.FIELDS}
_NAME: Final = FormField(
    path="name",
    label=message("Name", context="console"),
    hint=message("Users see it when they sign in.", context="applications"),
    is_required=True,
)
_HOST_FORM_FIELD: Final = FormField(
    path=_HOST,
    label=message("Host name or URL", context="applications"),
    hint=message(
        "For example, app.example.com, localhost:3000 on your own machine, or the"
        " URL of its home page.",
        context="applications",
    ),
    direction="ltr",
    is_required=True,
    related_paths=("redirectUris", "postLogoutRedirectUris", "backChannelLogoutUri"),
)
_COMMANDS: Final[Mapping[Kind, str]] = {
    "web": "--redirect-uri URI",
    "user_agent": "--type user-agent --auth-method-type none --redirect-uri URI",
    "native": "--type native --auth-method-type none --redirect-uri URI",
    "api": "--type api",
}
_PUBLIC: Final = {"authMethodType": "OIDC_AUTH_METHOD_TYPE_NONE"}
_TYPES: Final = {kind: name for name, kind in APP_TYPES.items()}


class WizardHandler(ConsoleHandler):
    """Registers an application. The page displays the choices made so far, and the form for the
    others."""

    section = "applications"

    async def show(self, *ids: str) -> None:
        form_fields = self._fields(await self._projects())
        defaults = {field.path: field.default or "" for field in form_fields}
        self._ask(form_fields, defaults)

    async def submit(self, form: Params, *ids: str) -> None:
        form_fields = self._fields(await self._projects())
        values = fields.submitted_values(form_fields, form)
        try:
            document = self._document(values)
            self._check(document)
            project_id = await self._project(values, form.get("once"))
            registered = await self.run(
                self._operation, project_id, document=document, idempotency_key=form.get("once")
            )
            warnings = await self._warnings(project_id, document)
        except _FORM_ERRORS as error:
            self._refuse(form_fields, values, error)
            return
        self._show_registered(project_id, registered, values, warnings)

    # The choices

    @property
    def _kind(self) -> Kind | None:
        requested = self.query_params().if_once("kind")
        preset = presets.all_presets().get(self._preset_name or "")
        if preset is not None:
            return preset.kind
        return next((kind for kind in _CARDS if kind == requested), None)

    @property
    def _preset_name(self) -> str | None:
        return self.query_params().if_once("preset")

    @property
    def _preset(self) -> Preset | None:
        return presets.all_presets().get(self._preset_name or "")

    @property
    def _operation(self) -> Operation:
        is_api = self._kind == "api"
        return api.applications.CREATE_API if is_api else api.applications.CREATE_OIDC

    async def _projects(self) -> list[Document]:
        document = {"query": {"limit": _MAX_PROJECTS}}
        answer = await self.run(api.projects.SEARCH, document=document)
        projects: list[Document] = answer.get("result", [])
        return projects

    def _fields(self, projects: Sequence[Document]) -> list[FormField]:
        requested = self.query_params().if_once("project")
        choices = [
            (project_document["id"], project_document["name"]) for project_document in projects
        ]
        new_project = [("", message("A new project with the same name", context="applications"))]
        project = FormField(
            path=_PROJECT,
            label=message("Project", context="console"),
            kind="choice",
            options=[*choices, *(new_project if self.may("project.write") else [])],
            default=requested
            if requested in dict(choices)
            else (choices[0][0] if choices else ""),
        )
        preset = self._preset
        name = FormField(
            path="name",
            label=_NAME.label,
            hint=_NAME.hint,
            # A title may end with a remark in parentheses.
            default=preset.title.partition(" (")[0] if preset else "",
            is_required=True,
        )
        return [name, project, *self._users_fields(), *self._address_fields()]

    def _users_fields(self) -> list[FormField]:
        if self._kind == "api":
            return []
        return [application_settings.users_field(oidc_apps.proposed_users(self.service))]

    def _address_fields(self) -> list[FormField]:
        if self._kind == "api":
            return []
        if self._preset is not None:
            return [_HOST_FORM_FIELD] if self._preset.needs_host else []
        lines = {"kind": "lines", "hint": ONE_PER_LINE, "direction": "ltr"}
        return [
            FormField(path="redirectUris", label=REDIRECTS, is_required=True, **lines),  # type: ignore[arg-type]
            FormField(path="postLogoutRedirectUris", label=AFTER_LOGOUT, **lines),  # type: ignore[arg-type]
        ]

    # Registration

    def _document(self, values: Values) -> Document:
        """Returns the request's document. Raises InvalidArgument for an invalid host."""
        kind, name = self._kind, self._preset_name
        if kind == "api":
            return {"name": values["name"]}
        if self._preset is not None and name is not None:
            preset_values = presets.expand(name, self._host(values))
            return {"name": values["name"], **preset_values, **self._chosen_users(values)}
        form_fields = [field for field in self._address_fields() if field.path in values]
        client_settings = {} if kind in (None, "web") else _PUBLIC
        app_type = {"appType": _TYPES[kind or "web"]}
        settings = {"requirePkce": True, **client_settings, **fields.document(form_fields, values)}
        return {"name": values["name"], **app_type, **settings, **self._chosen_users(values)}

    def _chosen_users(self, values: Values) -> Document:
        return {
            field.path: values.get(field.path) or field.default for field in self._users_fields()
        }

    async def _warnings(self, project_id: str, document: Document) -> dict[str, list[str]]:
        """Returns violations of the standards, and settings that are likely mistakes: each text
        with the URIs that it is about."""
        if self._kind == "api":
            return {}
        checked = await self.run(api.applications.CHECK_OIDC, project_id, document=document)
        problems, warnings = checked.get("complianceProblems", ()), checked.get("warnings", ())
        uris: dict[str, list[str]] = {each["localizedMessage"]: [] for each in problems}
        for each in warnings:
            name, _, index = each["field"].rstrip("]").partition("[")
            uris.setdefault(each["localizedMessage"], []).append(document[name][int(index)])
        return uris

    def _host(self, values: Values) -> str:
        """Returns the tool's host; for a tool without its own address, any host."""
        return str(values[_HOST]) if _HOST in values else read_presets.HOST

    def _check(self, document: Document) -> None:
        """Validates the request before a project is created for it. Raises InvalidArgument."""
        request = self._operation.request
        if request is not None:
            reading.read(request, document)

    async def _project(self, values: Values, idempotency_key: str | None) -> str:
        if values[_PROJECT]:
            return str(values[_PROJECT])
        created = await self.run(
            api.projects.CREATE,
            document={"name": values["name"]},
            # A key of its own, because the form's key is that of the application.
            idempotency_key=idempotency_key and f"{idempotency_key} project",
        )
        return str(created["id"])

    # Pages

    def _refuse(self, form_fields: Sequence[FormField], values: Values, error: IdpError) -> None:
        problems = fields.problems(form_fields, error)
        self._ask(form_fields, values, status=refusals.status_of(error), problems=problems)

    def _ask(self, form_fields: Sequence[FormField], values: Values, **page_values: Any) -> None:
        kind, preset = self._kind, self._preset
        self.page(
            "console/new-application",
            cards=[self._card(card_kind, text) for card_kind, text in _CARDS.items()],
            tools=self._tools(kind) if kind else [],
            reasons=_reasons(preset) if preset else [],
            notes=list(preset.notes) if preset else [],
            fields=fields.rendered(form_fields, values) if kind else [],
            commands=self._commands(form_fields, values),
            hidden=self.form_inputs(),
            **page_values,
        )

    def _card(self, kind: Kind, text: Message) -> dict[str, object]:
        return {
            "title": KINDS[kind],
            "text": text,
            "url": self._page_url(kind=kind),
            "is_chosen": kind == self._kind,
        }

    def _tools(self, kind: Kind) -> list[dict[str, object]]:
        tools = presets.of_kind(kind).items()
        other_label = message("Something else", context="applications")
        return [
            *(
                {
                    "title": preset.title,
                    "url": self._page_url(preset=name),
                    "is_chosen": name == self._preset_name,
                }
                for name, preset in tools
            ),
            {
                "title": other_label,
                "url": self._page_url(kind=kind),
                "is_chosen": self._preset is None,
            },
        ]

    def _page_url(self, **query: str) -> str:
        project = self.query_params().if_once("project")
        return self.url_of(PATH, **({"project": project} if project else {}), **query)

    def _commands(
        self, form_fields: Sequence[FormField], values: Values
    ) -> list[dict[str, object]]:
        try:
            document = self._document(values)
        except InvalidArgument:
            document = {"name": values["name"]}
        options = _COMMANDS[self._kind or "web"]
        if self._preset is not None:
            options = f"--preset {self._preset_name}" + (" --host HOST" if _HOST in values else "")
        line = f"app create --project {{projectId}} --name NAME {options}"
        example = commands.example([_NAME], document)
        project = values.get(_PROJECT) or "PROJECT"
        return self.shell(self._operation, [project], line, example)

    def _show_registered(
        self, project_id: str, registered: Document, values: Values, warnings: Document
    ) -> None:
        """Shows the client id and the tool's configuration. The secret is shown only here."""
        name, preset, ids = self._preset_name, self._preset, (project_id, registered["appId"])
        text = None
        if preset is not None and name is not None:
            issuer, host = self.service.config.issuer, self._host(values)
            text = presets.configuration(name, issuer, registered["clientId"], host)
        self.page(
            "console/registered",
            about=values["name"],
            client_id=registered["clientId"],
            client_secret=registered.get("clientSecret"),
            issuer=self.service.config.issuer,
            warnings=warnings,
            file=preset.file if preset else None,
            configuration=text,
            test_url=self.url_of(f"{CONSOLE}{PAGE_PATH}/test", *ids)
            if self._kind != "api"
            else None,
            next_url=self.url_of(CONSOLE + PAGE_PATH, *ids),
        )


def _reasons(preset: Preset) -> list[dict[str, object]]:
    """Returns the settings that the preset changes from the defaults, with the reasons."""
    return [
        {
            "label": METHOD if name == "authMethodType" else _LABELS[name],
            "name": name,
            "reason": choice.reason,
        }
        for name, choice in preset.chosen.items()
    ]


ROUTES = [(PATH, WizardHandler)]

"""The actions of the console's application page: settings, secrets, states and deletion."""

from __future__ import annotations

from typing import Any, Final

from msgspec import structs

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.console.applications import client_secrets, registered_keys
from handlers.console.applications import settings as application_settings
from handlers.console.projects import PAGE_PATH as PROJECT_PATH
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.i18n import Message, message

PAGE_PATH: Final = f"{PROJECT_PATH}/applications/{{appId}}"
_CREDENTIALS_PATH: Final = f"{PAGE_PATH}/credentials"
_SECTION: Final = "applications"
_OWNER_OPTIONS: Final = "--project {projectId} --app {appId}"
_APP_ARGUMENTS: Final = "--project {projectId} {appId}"
_COMMON: Final[dict[str, Any]] = {
    "section": _SECTION,
    "loads": api.applications.READ,
    "name": "app.name",
}
_SAVE: Final = message("Save", context="console")
_SECRET: Final = DisplayedOnce("clientSecret", message("Client secret", context="applications"))


class SecretHandler(ActionHandler):
    """Generates a new client secret, with the operation for the application's type."""

    async def load(self, *ids: str) -> Document:
        record = await super().load(*ids)
        if "apiConfig" in record["app"]:
            self.action = structs.replace(
                self.action,
                operation=api.applications.GENERATE_API_SECRET,
                command=f"{self.action.command} --api",
            )
        return record


def _change(
    name: str, operation: Operation, title: Message, button: Message = _SAVE, **fields: object
) -> Action:
    values: dict[str, object] = {
        **_COMMON,
        "path": f"{PAGE_PATH}/{name}",
        "operation": operation,
        "title": title,
        "button": button,
        "next_path": PAGE_PATH,
        "confirmation": "saved",
    }
    return Action(**{**values, **fields})  # type: ignore[arg-type]


ACTIONS: Final = (
    _change(
        "settings",
        api.applications.CONFIGURE_OIDC,
        message("Change the settings", context="applications"),
        intro=message(
            "These values replace all current settings. Issued tokens stay valid. New"
            " tokens use the new settings.",
            context="applications",
        ),
        fields=application_settings.FIELDS,
        shows=(_SECRET,),
        command=f"app configure {_APP_ARGUMENTS} --redirect-uri URI",
    ),
    _change(
        "api-settings",
        api.applications.CONFIGURE_API,
        message("Change the settings", context="applications"),
        fields=application_settings.API_FIELDS,
        shows=(_SECRET,),
        command=f"app configure-api {_APP_ARGUMENTS} --auth-method-type basic",
    ),
    _change(
        "rename",
        api.applications.RENAME,
        message("Rename the application", context="applications"),
        fields=(
            FormField(
                path="name",
                source="app.name",
                label=message("Name", context="console"),
                is_required=True,
            ),
        ),
        command=f"app rename {_APP_ARGUMENTS} --name NAME",
    ),
    _change(
        "secret",
        api.applications.GENERATE_OIDC_SECRET,
        handler=SecretHandler,
        shows=(_SECRET,),
        next_path=_CREDENTIALS_PATH,
        command=f"app rotate-secret {_APP_ARGUMENTS} --overlap 24h",
        **client_secrets.NEW_SECRET,
    ),
    client_secrets.end_action(
        PAGE_PATH,
        api.applications.END_SECRET,
        f"app end-secret {_OWNER_OPTIONS} {{secretId}}",
        next_path=_CREDENTIALS_PATH,
        **_COMMON,
    ),
    _change(
        "debug",
        api.applications.DEBUG,
        message("Explain errors for an hour", context="applications"),
        message("Switch it on", context="applications"),
        intro=message(
            "If the application sends an invalid request, the error page shows "
            "details to everyone who sees it. This mode ends automatically.",
            context="applications",
        ),
        fixed={"duration": "1h"},
        command=f"app debug {_APP_ARGUMENTS} --duration 1h",
    ),
    _change(
        "debug/end",
        api.applications.DEBUG,
        message("Stop explaining errors", context="applications"),
        message("Switch it off", context="applications"),
        fixed={"duration": "0s"},
        confirmation="ended",
        command=f"app debug {_APP_ARGUMENTS} --duration 0s",
    ),
    _change(
        "deactivate",
        api.applications.DEACTIVATE,
        message("Deactivate the application", context="applications"),
        message("Deactivate", context="console"),
        intro=message(
            "Users can't sign in to it until you reactivate it. All its tokens are revoked.",
            context="applications",
        ),
        is_dangerous=True,
        confirmation="deactivated",
        command=f"app deactivate {_APP_ARGUMENTS}",
    ),
    _change(
        "reactivate",
        api.applications.REACTIVATE,
        message("Reactivate the application", context="applications"),
        message("Reactivate", context="console"),
        confirmation="reactivated",
        command=f"app reactivate {_APP_ARGUMENTS}",
    ),
    _change(
        "delete",
        api.applications.REMOVE,
        message("Delete the application", context="applications"),
        message("Delete", context="console"),
        intro=message(
            "Its secrets and keys are deleted and its tokens revoked. This can't be undone.",
            context="applications",
        ),
        confirms=True,
        is_dangerous=True,
        next_path=PROJECT_PATH,
        confirmation="deleted",
        command=f"app delete {_APP_ARGUMENTS}",
    ),
    *registered_keys.actions(
        PAGE_PATH,
        api.applications.CREATE_KEY,
        api.applications.REMOVE_KEY,
        _OWNER_OPTIONS,
        next_path=_CREDENTIALS_PATH,
        **_COMMON,
    ),
)

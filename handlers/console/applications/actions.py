"""The actions of the console's application page: settings, secrets, states and deletion."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.console.applications import client_secrets, registered_keys
from handlers.console.applications import settings as application_settings
from handlers.console.projects import ONE as PROJECT_PATH
from handlers.console.projects import PROJECT
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message

APP: Final = f"{PROJECT}/apps/{{appId}}"
ONE: Final = f"{PROJECT_PATH}/applications/{{appId}}"
_SECTION: Final = "applications"
_GENERATE: Final = "_generate_client_secret"
_AT: Final = "--project {projectId} --app {appId}"
_THIS: Final = "--project {projectId} {appId}"
_NAMED: Final[dict[str, str]] = {
    "section": _SECTION,
    "loads": f"GET {APP}",
    "name": "app.name",
}
_SAVE: Final = message("Save", context="console")
_SECRET: Final = DisplayedOnce("clientSecret", message("Client secret", context="applications"))


class SecretHandler(ActionHandler):
    """Generates a new client secret, with the operation for the application's type."""

    async def load(self, *ids: str) -> Document:
        loaded = await super().load(*ids)
        kind = "api_config" if "apiConfig" in loaded["app"] else "oidc_config"
        operation = f"POST {APP}/{kind}/{_GENERATE}"
        command = self.action.command + (" --api" if kind == "api_config" else "")
        self.action = structs.replace(self.action, operation=operation, command=command)
        return loaded


def _change(
    name: str, operation: str, title: Message, button: Message = _SAVE, **more: object
) -> Action:
    values: dict[str, object] = {
        **_NAMED,
        "path": f"{ONE}/{name}",
        "operation": operation,
        "title": title,
        "button": button,
        "then": ONE,
        "done": "saved",
    }
    return Action(**{**values, **more})  # type: ignore[arg-type]


ACTIONS: Final = (
    _change(
        "settings",
        f"PUT {APP}/oidc_config",
        message("Change the settings", context="applications"),
        intro=message(
            "All settings are replaced by what stands here. What was issued lives on; what is"
            " issued from now on follows.",
            context="applications",
        ),
        fields=application_settings.FIELDS,
        shows=(_SECRET,),
        command=f"app configure {_THIS} --redirect-uri URI",
    ),
    _change(
        "api-settings",
        f"PUT {APP}/api_config",
        message("Change the settings", context="applications"),
        fields=application_settings.API_FIELDS,
        shows=(_SECRET,),
        command=f"app configure-api {_THIS} --auth-method-type basic",
    ),
    _change(
        "rename",
        f"PUT {APP}",
        message("Rename the application", context="applications"),
        fields=(
            FormField(
                path="name",
                source="app.name",
                label=message("Name", context="console"),
                is_required=True,
            ),
        ),
        command=f"app rename {_THIS} --name NAME",
    ),
    _change(
        "secret",
        f"POST {APP}/oidc_config/{_GENERATE}",
        handler=SecretHandler,
        shows=(_SECRET,),
        command=f"app rotate-secret {_THIS} --overlap 24h",
        **client_secrets.NEW,
    ),
    client_secrets.end(ONE, APP, f"app end-secret {_AT} {{secretId}}", **_NAMED),
    _change(
        "debug",
        f"POST {APP}/_debug",
        message("Explain errors for an hour", context="applications"),
        message("Switch it on", context="applications"),
        intro=message(
            "When the application sends a request that can't be used, the page says in detail what"
            " is wrong, to whoever sees it. It ends by itself.",
            context="applications",
        ),
        fixed={"duration": "1h"},
        command=f"app debug {_THIS} --duration 1h",
    ),
    _change(
        "debug/end",
        f"POST {APP}/_debug",
        message("Explain errors no longer", context="applications"),
        message("Switch it off", context="applications"),
        fixed={"duration": "0s"},
        done="ended",
        command=f"app debug {_THIS} --duration 0s",
    ),
    _change(
        "deactivate",
        f"POST {APP}/_deactivate",
        message("Deactivate the application", context="applications"),
        message("Deactivate", context="console"),
        intro=message(
            "Nobody signs in to it until it is active again, and all that was issued to it ends.",
            context="applications",
        ),
        is_dangerous=True,
        done="deactivated",
        command=f"app deactivate {_THIS}",
    ),
    _change(
        "reactivate",
        f"POST {APP}/_reactivate",
        message("Reactivate the application", context="applications"),
        message("Reactivate", context="console"),
        done="reactivated",
        command=f"app reactivate {_THIS}",
    ),
    _change(
        "delete",
        f"DELETE {APP}",
        message("Delete the application", context="applications"),
        message("Delete", context="console"),
        intro=message(
            "Its secret and keys go with it, and everything that was issued to it ends. There is"
            " no way back.",
            context="applications",
        ),
        confirms=True,
        is_dangerous=True,
        then=PROJECT_PATH,
        done="deleted",
        command=f"app delete {_THIS}",
    ),
    *registered_keys.actions(ONE, APP, _AT, **_NAMED),
)

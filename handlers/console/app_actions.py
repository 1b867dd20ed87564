"""What can be done with an application, but for registering and trying it."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from handlers.console import app_settings, registered_keys
from handlers.console.actions import Action, ActionHandler, Secret
from handlers.console.fields import Field
from handlers.console.projects import ONE as PROJECT_PATH
from handlers.console.projects import PROJECT
from handlers.console.running import Document
from idp.i18n import Message, message

APP: Final = f"{PROJECT}/apps/{{appId}}"
ONE: Final = f"{PROJECT_PATH}/applications/{{appId}}"
_SECTION: Final = "applications"
_GENERATE: Final = "_generate_client_secret"
_SAVE: Final = message("Save", context="console")
_SECRET: Final = Secret("clientSecret", message("Client secret", context="applications"))


class SecretHandler(ActionHandler):
    """A new secret, by the call for the application's kind."""

    async def load(self, *ids: str) -> Document:
        loaded = await super().load(*ids)
        kind = "api_config" if "apiConfig" in loaded["app"] else "oidc_config"
        operation = f"POST {APP}/{kind}/{_GENERATE}"
        self.action = structs.replace(self.action, operation=operation)
        return loaded


def _change(
    name: str, operation: str, title: Message, button: Message = _SAVE, **more: object
) -> Action:
    values: dict[str, object] = {
        "path": f"{ONE}/{name}",
        "section": _SECTION,
        "operation": operation,
        "loads": f"GET {APP}",
        "name": "app.name",
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
        fields=app_settings.FIELDS,
        shows=(_SECRET,),
    ),
    _change(
        "api-settings",
        f"PUT {APP}/api_config",
        message("Change the settings", context="applications"),
        fields=app_settings.API_FIELDS,
        shows=(_SECRET,),
    ),
    _change(
        "rename",
        f"PUT {APP}",
        message("Rename the application", context="applications"),
        fields=(
            Field(
                path="name",
                source="app.name",
                label=message("Name", context="console"),
                is_required=True,
            ),
        ),
    ),
    _change(
        "secret",
        f"POST {APP}/oidc_config/{_GENERATE}",
        message("New secret", context="applications"),
        message("Make a new secret", context="applications"),
        intro=message(
            "The secret of before counts beside the new one for as long as you say, so that"
            " nothing stops meanwhile. Tokens live on.",
            context="applications",
        ),
        fields=(
            Field(
                path="overlap",
                label=message("How long both count", context="applications"),
                hint=message(
                    "Such as 24h, at most 168h; 0s ends the old one at once.",
                    context="applications",
                ),
                default="24h",
                direction="ltr",
            ),
        ),
        handler=SecretHandler,
        shows=(_SECRET,),
        done="created",
        command="app rotate-secret --project {projectId} {appId} --overlap 24h",
    ),
    _change(
        "secrets/{secretId}/delete",
        f"DELETE {APP}/secrets/{{secretId}}",
        message("End the old secret", context="applications"),
        message("End it now", context="applications"),
        intro=message("It opens nothing from then on; tokens live on.", context="applications"),
        is_dangerous=True,
        done="ended",
    ),
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
        command="app debug --project {projectId} {appId}",
    ),
    _change(
        "debug/end",
        f"POST {APP}/_debug",
        message("Explain errors no longer", context="applications"),
        message("Switch it off", context="applications"),
        fixed={"duration": "0s"},
        done="ended",
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
    ),
    _change(
        "reactivate",
        f"POST {APP}/_reactivate",
        message("Reactivate the application", context="applications"),
        message("Reactivate", context="console"),
        done="reactivated",
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
        command="app delete --project {projectId} {appId}",
    ),
    *registered_keys.actions(ONE, APP, section=_SECTION, loads=f"GET {APP}", name="app.name"),
)

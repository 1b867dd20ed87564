"""Calls that read the presets: settings with which well-known tools are registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from idp.clients import presets
from idp.clients.presets.preset import Preset
from idp.management.call import Call
from idp.management.projects import oidc_apps
from idp.schema.answers import Answer
from idp.search.paging import ListDetails
from idp.service import Service

HOST: Final = "app.example"
_CLIENT_ID: Final = "CLIENT_ID"


class PresetReason(Answer, frozen=True, kw_only=True):
    """A setting that a preset changes from its default, and the reason."""

    field: str
    reason: str


class PresetView(Answer, frozen=True, kw_only=True):
    """A preset. `kind` says whether the tool is registered as an API, or with which `appType`."""

    name: str
    title: str
    kind: str
    reasons: list[PresetReason] = []
    notes: list[str] = []


class PresetSettings(Answer, frozen=True, kw_only=True):
    """The request body that registers the tool, without the name; empty for an API."""

    app_type: str = ""
    redirect_uris: list[str] = []
    post_logout_redirect_uris: list[str] = []
    back_channel_logout_uri: str = ""
    auth_method_type: str = ""
    grant_types: list[str] = []
    id_token_userinfo_assertion: bool = False
    id_token_role_assertion: bool = False
    id_token_signed_response_alg: str = ""
    groups_claim: str = ""
    loopback_any_port: bool = False
    require_pkce: bool = False
    allowed_users: str = ""


class Presets(Answer, frozen=True, kw_only=True):
    details: ListDetails
    result: list[PresetView] = []


class PresetFound(Answer, frozen=True, kw_only=True):
    """`app.example` and `CLIENT_ID` stand for the tool's host and the application's id."""

    preset: PresetView
    settings: PresetSettings
    file: str
    configuration: str


async def find_all(service: Service, call: Call) -> Presets:
    """Returns the tools for which there is a preset."""
    views = [_view(name, preset) for name, preset in presets.all_presets().items()]
    return Presets(details=ListDetails(total_result=str(len(views))), result=views)


async def show(service: Service, call: Call, name: str) -> PresetFound:
    """Returns the settings with which a tool is registered as an application, and the
    configuration of the tool itself.

    Raises NotFound.
    """
    preset = presets.find(name)
    settings = presets.expand(name, HOST)
    return PresetFound(
        preset=_view(name, preset),
        settings=_settings(service, settings, preset),
        file=preset.file,
        configuration=presets.configuration(name, service.config.issuer, _CLIENT_ID, HOST),
    )


def _settings(service: Service, values: Mapping[str, Any], preset: Preset) -> PresetSettings:
    settings = msgspec.convert(values, PresetSettings)
    if preset.kind == "api" or service.config.new_application_users == "everybody":
        return settings
    return structs.replace(settings, allowed_users=oidc_apps.proposed_users(service))


def _view(name: str, preset: Preset) -> PresetView:
    reasons = [
        PresetReason(field=field, reason=choice.reason.msgid)
        for field, choice in preset.chosen.items()
    ]
    notes = [note.msgid for note in preset.notes]
    kind = f"PRESET_KIND_{preset.kind.upper()}"
    return PresetView(name=name, title=preset.title, kind=kind, reasons=reasons, notes=notes)

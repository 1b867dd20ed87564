"""The parts of a preset: a tool's settings, the reason for each, and the tool's configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from idp.foundation.i18n import Message, message

Kind = Literal["web", "user_agent", "native", "api"]

CODE: Final = "OIDC_GRANT_TYPE_AUTHORIZATION_CODE"
REFRESH: Final = "OIDC_GRANT_TYPE_REFRESH_TOKEN"
DEVICE: Final = "OIDC_GRANT_TYPE_DEVICE_CODE"
GROUPS: Final = "groups"


class PresetChoice(NamedTuple):
    """A setting other than the default, and the reason for it."""

    value: Any
    reason: Message


class Preset(Struct, frozen=True, kw_only=True):
    """The preset of one tool.

    `redirect_uris`, `post_logout_redirect_uris` and `back_channel_logout_uri` contain `{base}` in
    the place of the tool's own address, or `{app}` for the scheme that a native application
    derives from its host name. `pkce` says whether the tool sends PKCE in this configuration.
    `configuration` is the content of `file`; `presets.configuration` replaces the names between
    `<` and `>` in it. `notes` name frequent mistakes.
    """

    title: str
    kind: Kind
    chosen: Mapping[str, PresetChoice] = {}
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    back_channel_logout_uri: str = ""
    notes: tuple[Message, ...] = ()
    pkce: bool = True
    file: str
    configuration: str

    @property
    def needs_host(self) -> bool:
        """Whether the redirect URIs depend on the tool's host name."""
        return any("{" in each for each in self.redirect_uris)

    @property
    def has_secret(self) -> bool:
        return self.kind in ("web", "api")


# The choices that several tools share, each with its reason.

PUBLIC: Final = {
    "authMethodType": PresetChoice(
        "OIDC_AUTH_METHOD_TYPE_NONE",
        message(
            "Its code is in everybody's hands, so a secret would be none: PKCE takes its place.",
            context="presets",
        ),
    )
}
SECRET_IN_FORM: Final = {
    "authMethodType": PresetChoice(
        "OIDC_AUTH_METHOD_TYPE_POST",
        message("It sends its secret in the form and not in a header.", context="presets"),
    )
}
REFRESHING: Final = {
    "grantTypes": PresetChoice(
        [CODE, REFRESH],
        message(
            "It keeps people signed in by refresh tokens, which it asks for by offline_access.",
            context="presets",
        ),
    )
}
CLAIMS_IN_ID_TOKEN: Final = {
    "idTokenUserinfoAssertion": PresetChoice(
        True,
        message(
            "It reads names and e-mail addresses from the ID token and does not ask userinfo.",
            context="presets",
        ),
    )
}
ROLES_AS_GROUPS: Final = {
    "idTokenRoleAssertion": PresetChoice(
        True,
        message(
            "It looks for roles in the ID token, never in the access token.", context="presets"
        ),
    ),
    "groupsClaim": PresetChoice(
        GROUPS,
        message("It reads roles from a flat list, in a claim named groups.", context="presets"),
    ),
}

# Notes that several tools share.

EXACT_ISSUER: Final = message(
    "The issuer is compared character by character: no slash at its end.", context="presets"
)
VERIFIED_EMAIL: Final = message(
    "It turns people away whose e-mail address is not verified.", context="presets"
)
HTTPS_ISSUER: Final = message(
    "It takes no issuer but one with https, so it can't use one on this machine alone.",
    context="presets",
)
ROLES_FIRST: Final = message(
    "Give the project roles and people grants; groups is left out for whoever has none.",
    context="presets",
)

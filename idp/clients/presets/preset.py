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
    derives from its host name. `pkce` is whether the tool sends PKCE in this configuration.
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
            "Anyone can read its code, so it can't keep a secret. PKCE replaces it.",
            context="presets",
        ),
    )
}
SECRET_IN_FORM: Final = {
    "authMethodType": PresetChoice(
        "OIDC_AUTH_METHOD_TYPE_POST",
        message(
            "It sends its client secret in the POST body, not by HTTP Basic.", context="presets"
        ),
    )
}
REFRESHING: Final = {
    "grantTypes": PresetChoice(
        [CODE, REFRESH],
        message(
            "It keeps users signed in with refresh tokens, which it requests with offline_access.",
            context="presets",
        ),
    )
}
CLAIMS_IN_ID_TOKEN: Final = {
    "idTokenUserinfoAssertion": PresetChoice(
        True,
        message(
            "It reads names and emails from the ID token and doesn't call userinfo.",
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
VERIFIED_EMAIL: Final = message("It refuses users whose email isn't verified.", context="presets")
HTTPS_ISSUER: Final = message(
    "It accepts only https issuers, so it can't use one on this machine alone.",
    context="presets",
)
ROLES_FIRST: Final = message(
    "Create roles in the project and assign them to users. Users "
    "without roles have no groups claim.",
    context="presets",
)

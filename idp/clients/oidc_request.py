"""What the registration of an OpenID Connect application may say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal

from idp.clients import redirect_uris
from idp.clients.redirect_uris import RedirectUri, WebAddress
from idp.errors import FieldProblem
from idp.fields import Items, Name, NotYet, OneOf, Refused
from idp.records import AppType, AuthMethod, ResponseType
from idp.requests import Request

MAX_URIS: Final = 50

APP_TYPES: Final[dict[str, AppType]] = {
    "OIDC_APP_TYPE_WEB": "web",
    "OIDC_APP_TYPE_USER_AGENT": "user_agent",
    "OIDC_APP_TYPE_NATIVE": "native",
}
AUTH_METHODS: Final[dict[str, AuthMethod]] = {
    "OIDC_AUTH_METHOD_TYPE_BASIC": "client_secret_basic",
    "OIDC_AUTH_METHOD_TYPE_POST": "client_secret_post",
    "OIDC_AUTH_METHOD_TYPE_NONE": "none",
}
RESPONSE_TYPES: Final[dict[str, ResponseType]] = {"OIDC_RESPONSE_TYPE_CODE": "code"}
GRANT_TYPES: Final[dict[str, str]] = {
    "OIDC_GRANT_TYPE_AUTHORIZATION_CODE": "authorization_code",
    "OIDC_GRANT_TYPE_REFRESH_TOKEN": "refresh_token",
}
TOKEN_TYPES: Final[dict[str, Literal["opaque", "jwt"]]] = {
    "OIDC_TOKEN_TYPE_BEARER": "opaque",
    "OIDC_TOKEN_TYPE_JWT": "jwt",
}

_Uris = Annotated[list[Annotated[str, RedirectUri()]], Items(MAX_URIS)]


def _not_yet(name: str, kind: type = bool) -> NotYet:
    return NotYet(f"app.{name}.unsupported", kind)


class NewOidcApp(Request, frozen=True, kw_only=True):
    """What is registered; what this version can't honour is refused by a slug of its own."""

    name: Name
    redirect_uris: _Uris = []
    response_types: list[
        Annotated[
            str,
            OneOf(
                tuple(RESPONSE_TYPES),
                ("OIDC_RESPONSE_TYPE_ID_TOKEN", "OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN"),
                "app.response_types.unsupported",
            ),
        ]
    ] = []
    grant_types: list[
        Annotated[
            str,
            OneOf(
                tuple(GRANT_TYPES),
                (
                    "OIDC_GRANT_TYPE_IMPLICIT",
                    "OIDC_GRANT_TYPE_DEVICE_CODE",
                    "OIDC_GRANT_TYPE_TOKEN_EXCHANGE",
                    "OIDC_GRANT_TYPE_CLIENT_CREDENTIALS",
                ),
                "app.grant_types.unsupported",
            ),
        ]
    ] = []
    app_type: Annotated[str, OneOf(tuple(APP_TYPES))] = "OIDC_APP_TYPE_WEB"
    auth_method_type: Annotated[
        str,
        OneOf(
            tuple(AUTH_METHODS),
            ("OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT",),
            "app.auth_method_type.unsupported",
        ),
    ] = "OIDC_AUTH_METHOD_TYPE_BASIC"
    post_logout_redirect_uris: _Uris = []
    version: Annotated[str, OneOf(("OIDC_VERSION_1_0",))] = "OIDC_VERSION_1_0"
    dev_mode: bool = False
    access_token_type: Annotated[str, OneOf(tuple(TOKEN_TYPES))] = "OIDC_TOKEN_TYPE_BEARER"  # noqa: S105
    id_token_userinfo_assertion: bool = False
    home_url: Annotated[str, WebAddress()] = ""
    access_token_role_assertion: Annotated[object, _not_yet("access_token_role_assertion")] = False
    id_token_role_assertion: Annotated[object, _not_yet("id_token_role_assertion")] = False
    clock_skew: Annotated[object, _not_yet("clock_skew", str)] = ""
    additional_origins: Annotated[object, _not_yet("additional_origins", list)] = ()
    skip_native_app_success_page: Annotated[object, _not_yet("skip_native_app_success_page")] = (
        False
    )
    back_channel_logout_uri: Annotated[object, _not_yet("back_channel_logout_uri", str)] = ""
    front_channel_logout_uri: Annotated[object, _not_yet("front_channel_logout_uri", str)] = ""
    login_version: Annotated[object, _not_yet("login_version", dict)] = None
    groups_claim: Annotated[object, _not_yet("groups_claim", str)] = ""
    third_party: Annotated[object, _not_yet("third_party")] = False
    management_access: Annotated[object, _not_yet("management_access")] = False
    refresh_token_reuse_seconds: Annotated[
        object, _not_yet("refresh_token_reuse_seconds", int)
    ] = 0
    loopback_any_port: Annotated[object, _not_yet("loopback_any_port")] = False
    require_pushed_requests: Annotated[object, _not_yet("require_pushed_requests")] = False

    def check(self) -> Iterator[FieldProblem]:
        """Each URI against the kind of the application, and that none stands twice."""
        yield from self._check_uris("redirectUris", self.redirect_uris)
        yield from self._check_uris("postLogoutRedirectUris", self.post_logout_redirect_uris)

    def _check_uris(self, field: str, uris: Sequence[str]) -> Iterator[FieldProblem]:
        kind, is_dev_mode = APP_TYPES.get(self.app_type), self.dev_mode
        for n, uri in enumerate(uris or ()):
            if uri is None:
                continue
            try:
                if kind is not None and is_dev_mode is not None:
                    redirect_uris.check(uri, kind, is_dev_mode=is_dev_mode)
                if uri in uris[:n]:
                    raise Refused("field.duplicate", "stands in the list twice")
            except Refused as refused:
                yield FieldProblem(refused.slug, f"{field}[{n}]", refused.message)

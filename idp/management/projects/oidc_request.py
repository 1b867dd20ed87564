"""The request bodies that register an OpenID Connect application."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from idp.clients import redirect_uris
from idp.clients.redirect_uris import Origin, RedirectUri, WebAddress
from idp.clients.wire_names import (
    ALGORITHMS,
    ALLOWED_USERS,
    APP_TYPES,
    AUTH_METHODS,
    GRANT_TYPES,
    IMPLICIT_RESPONSES,
    RESPONSE_TYPES,
    TOKEN_TYPES,
)
from idp.foundation.errors import FieldProblem
from idp.management.projects.app_fields import ClaimName, ClockSkew, NoLoginUri
from idp.records import (
    AppType,
)
from idp.schema.field_rules import FieldRefused, Integer, Items, Name, OneOf, Text
from idp.schema.reading import Nothing, Request

MAX_URIS: Final = 50
MAX_REUSE_SECONDS: Final = 60


_Uris = Annotated[list[Annotated[str, RedirectUri()]], Items(MAX_URIS)]
_Origins = Annotated[list[Annotated[str, Origin()]], Items(MAX_URIS)]


class OwnLogin(Request, frozen=True, kw_only=True):
    base_uri: Annotated[str, NoLoginUri()] = ""


class LoginVersion(Request, frozen=True, kw_only=True):
    """Accepted for compatibility: the sign-in is the same, whichever version is named."""

    one_of = (("login_v1", "login_v2"),)

    login_v1: Nothing | None = None
    login_v2: OwnLogin | None = None


class OidcSettings(Request, frozen=True, kw_only=True):
    """The settings of an application; one that is omitted has its default. If `allowed_users` is
    omitted, a new application is open to everybody, and an existing one keeps its value, so that a
    client which does not know the member never opens an application. An existing application keeps
    `confirm_return`, too, if that is omitted; its default for a new one depends on the
    installation's profile. `skip_native_app_success_page` and `login_version` are accepted without
    effect.
    """

    redirect_uris: _Uris = []
    response_types: list[Annotated[str, OneOf(tuple(RESPONSE_TYPES))]] = []
    grant_types: list[Annotated[str, OneOf(tuple(GRANT_TYPES))]] = []
    app_type: Annotated[str, OneOf(tuple(APP_TYPES))] = "OIDC_APP_TYPE_WEB"
    auth_method_type: Annotated[str, OneOf(tuple(AUTH_METHODS))] = "OIDC_AUTH_METHOD_TYPE_BASIC"
    post_logout_redirect_uris: _Uris = []
    version: Annotated[str, OneOf(("OIDC_VERSION_1_0",))] = "OIDC_VERSION_1_0"
    dev_mode: bool = False
    access_token_type: Annotated[str, OneOf(tuple(TOKEN_TYPES))] = "OIDC_TOKEN_TYPE_BEARER"  # noqa: S105
    access_token_role_assertion: bool = False
    id_token_role_assertion: bool = False
    id_token_userinfo_assertion: bool = False
    id_token_signed_response_alg: Annotated[str, OneOf(tuple(ALGORITHMS))] = "RS256"  # noqa: S105
    clock_skew: Annotated[int, ClockSkew()] = 0
    additional_origins: _Origins = []
    back_channel_logout_uri: Annotated[str, WebAddress()] = ""
    front_channel_logout_uri: Annotated[str, WebAddress()] = ""
    home_url: Annotated[str, WebAddress()] = ""
    groups_claim: Annotated[str, ClaimName()] = ""
    third_party: bool = False
    management_access: bool = False
    allowed_users: Annotated[str, OneOf(tuple(ALLOWED_USERS))] | None = None
    refresh_token_reuse_seconds: Annotated[int, Integer(0, MAX_REUSE_SECONDS)] = 60
    loopback_any_port: bool = False
    require_pushed_requests: bool = False
    require_pkce: bool = False
    strict_auth_method: bool = False
    confirm_return: bool | None = None
    skip_native_app_success_page: bool = False
    login_version: LoginVersion | None = None

    def check(self) -> Iterator[FieldProblem]:
        """Yields a problem for each address that the kind of the application does not allow or
        that occurs twice, and for grant types that do not fit the response types or the
        authentication."""
        kind = APP_TYPES.get(self.app_type)
        yield from self._check_list("redirectUris", self.redirect_uris, kind)
        yield from self._check_list("postLogoutRedirectUris", self.post_logout_redirect_uris, kind)
        # Only native applications may use private schemes, also in origins; the service itself
        # calls the logout addresses, which therefore follow the rules of a web application.
        yield from self._check_list("additionalOrigins", self.additional_origins, "native")
        yield from self._check_uri("backChannelLogoutUri", self.back_channel_logout_uri, "web")
        yield from self._check_uri("frontChannelLogoutUri", self.front_channel_logout_uri, "web")
        yield from self._check_flows()

    def _check_list(
        self, field: str, uris: Sequence[str], kind: AppType | None
    ) -> Iterator[FieldProblem]:
        for n, uri in enumerate(uris or ()):
            path = f"{field}[{n}]"
            yield from self._check_uri(path, uri, kind)
            if uri and uri in uris[:n]:
                yield FieldProblem("field.duplicate", path, "is listed twice")

    def _check_uri(self, path: str, uri: str, kind: AppType | None) -> Iterator[FieldProblem]:
        if uri and kind is not None and self.dev_mode is not None:
            try:
                redirect_uris.check(uri, kind, is_dev_mode=self.dev_mode)
            except FieldRefused as refused:
                yield FieldProblem(refused.error_code, path, refused.message)

    def _check_flows(self) -> Iterator[FieldProblem]:
        grants, responses = self.grant_types or (), self.response_types or ()
        if None in grants or None in responses:
            return
        has_implicit = "OIDC_GRANT_TYPE_IMPLICIT" in grants
        if IMPLICIT_RESPONSES & set(responses) and not has_implicit:
            text = "must contain OIDC_GRANT_TYPE_IMPLICIT for these response types"
            yield FieldProblem("app.grant_types.implicit_missing", "grantTypes", text)
        is_public = self.auth_method_type == "OIDC_AUTH_METHOD_TYPE_NONE"
        if "OIDC_GRANT_TYPE_CLIENT_CREDENTIALS" in grants and is_public:
            text = "can't contain client credentials: the application has none"
            yield FieldProblem("app.grant_types.no_credentials", "grantTypes", text)


class NewOidcApp(OidcSettings, frozen=True, kw_only=True):
    name: Name


class CheckedOidcApp(OidcSettings, frozen=True, kw_only=True):
    name: Annotated[str, Text()] = ""

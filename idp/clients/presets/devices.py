"""Presets of native applications and single-page applications, and of APIs that only check
tokens."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import (
    CLAIMS_IN_ID_TOKEN,
    CODE,
    DEVICE,
    HTTPS_ISSUER,
    PUBLIC,
    REFRESH,
    REFRESHING,
    ROLES_AS_GROUPS,
    ROLES_FIRST,
    Preset,
    PresetChoice,
)
from idp.foundation.i18n import message

_SINGLE_PAGE: Final = """\
import { UserManager, WebStorageStateStore } from "oidc-client-ts"

export const users = new UserManager({
  authority: "<issuer>",
  client_id: "<client_id>",
  redirect_uri: "<base>/callback",
  post_logout_redirect_uri: "<base>/",
  response_type: "code",
  scope: "openid profile email offline_access",
  loadUserInfo: true,
  userStore: new WebStorageStateStore({ store: window.sessionStorage }),
})
// to sign in: users.signinRedirect(); at /callback: users.signinRedirectCallback()
"""

_APP: Final = """\
AppAuth, on a phone or a desktop:
  issuer        <issuer>
  client id     <client_id>
  redirect URI  <app>:/oauth2redirect
  scope         openid profile email offline_access
There is no secret; AppAuth sends PKCE by itself.
"""

_COMMAND: Final = """\
# with a browser: listen on any free port of 127.0.0.1 and send
#   client_id=<client_id>
#   redirect_uri=http://127.0.0.1:PORT/callback
#   code_challenge_method=S256
# to <authorize>

# without one:
curl <device_authorization> \\
  -d client_id='<client_id>' -d scope='openid profile email offline_access'
# shows user_code and verification_uri; then, every 5 seconds:
curl <token> \\
  -d client_id='<client_id>' -d device_code="$DEVICE_CODE" \\
  -d grant_type=urn:ietf:params:oauth:grant-type:device_code
"""

_KUBERNETES: Final = """\
# kubeconfig, with the plugin kubelogin
users:
- name: idp
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      interactiveMode: IfAvailable
      command: kubectl
      args:
      - oidc-login
      - get-token
      - --oidc-issuer-url=<issuer>
      - --oidc-client-id=<client_id>
      - --oidc-extra-scope=profile
      - --oidc-extra-scope=email
      - --oidc-extra-scope=offline_access
---
# the API server: --authentication-config=FILE
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: <issuer>
    audiences: ["<client_id>"]
  claimMappings:
    username:
      claim: preferred_username
      prefix: "idp:"
    groups:
      claim: groups
      prefix: "idp:"
"""

_API: Final = """\
# whether a token is valid; "active": false for every token that is not for this API
curl -u '<client_id>':"$CLIENT_SECRET" <introspect> -d token="$TOKEN"
"""

_ON_A_MACHINE: Final = message(
    "It listens on any free port of the user's machine (RFC 8252).", context="presets"
)

PRESETS: Final[dict[str, Preset]] = {
    "kubernetes": Preset(
        title="Kubernetes (kubelogin)",
        kind="native",
        chosen=PUBLIC
        | REFRESHING
        | {"loopbackAnyPort": PresetChoice(True, _ON_A_MACHINE)}
        | {
            "idTokenUserinfoAssertion": PresetChoice(
                True,
                message(
                    "The API server reads only the ID token and makes no other request.",
                    context="presets",
                ),
            )
        }
        | ROLES_AS_GROUPS,
        redirect_uris=("http://localhost:8000",),
        notes=(HTTPS_ISSUER, ROLES_FIRST),
        file="kubeconfig, authentication.yaml",
        configuration=_KUBERNETES,
    ),
    "spa": Preset(
        title="Single-page application (oidc-client-ts)",
        kind="user_agent",
        chosen=PUBLIC | REFRESHING,
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            message(
                "The browser can read responses because the origin is that of a redirect URI.",
                context="presets",
            ),
        ),
        file="users.ts",
        configuration=_SINGLE_PAGE,
    ),
    "native": Preset(
        title="Mobile or desktop app (AppAuth)",
        kind="native",
        chosen=PUBLIC | REFRESHING,
        redirect_uris=("{app}:/oauth2redirect",),
        post_logout_redirect_uris=("{app}:/signed-out",),
        notes=(
            message(
                "The scheme is the reversed host name, so that no other app has it.",
                context="presets",
            ),
        ),
        file="AppAuth",
        configuration=_APP,
    ),
    "cli": Preset(
        title="Command-line tool",
        kind="native",
        chosen=PUBLIC
        | CLAIMS_IN_ID_TOKEN
        | {
            "grantTypes": PresetChoice(
                [CODE, REFRESH, DEVICE],
                message(
                    "Without a browser, users sign in with a code on another device.",
                    context="presets",
                ),
            ),
            "loopbackAnyPort": PresetChoice(True, _ON_A_MACHINE),
        },
        redirect_uris=("http://127.0.0.1/callback",),
        file="shell",
        configuration=_COMMAND,
    ),
    "api": Preset(
        title="API (resource server)",
        kind="api",
        notes=(
            message(
                "It accepts tokens of the project's other applications, and no others.",
                context="presets",
            ),
        ),
        file="shell",
        configuration=_API,
    ),
}

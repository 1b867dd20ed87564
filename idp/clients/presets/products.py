"""Presets of products and proxies that have their own client of OpenID Connect."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import (
    CLAIMS_IN_ID_TOKEN,
    REFRESHING,
    ROLES_AS_GROUPS,
    ROLES_FIRST,
    SECRET_IN_FORM,
    VERIFIED_EMAIL,
    Preset,
)
from idp.foundation.i18n import message

_PROXY: Final = """\
provider = "oidc"
oidc_issuer_url = "<issuer>"
client_id = "<client_id>"
# OAUTH2_PROXY_CLIENT_SECRET and OAUTH2_PROXY_COOKIE_SECRET come from the environment
redirect_url = "<base>/oauth2/callback"
scope = "openid profile email offline_access"
code_challenge_method = "S256"
oidc_groups_claim = "groups"
email_domains = ["*"]
cookie_secure = <is_https>
cookie_refresh = "1h"
backend_logout_url = "<end_session>?id_token_hint={id_token}"
"""
_UPSTREAM: Final = 'upstreams = ["http://127.0.0.1:8080/"]\n'
_BEHIND: Final = 'http_address = "127.0.0.1:4180"\nreverse_proxy = true\nset_xauthrequest = true\n'
_NGINX: Final = """\

# --- nginx: first what is outside of the server
# A session larger than a cookie is split: the second part gets the attributes of the first.
map $auth_cookie $auth_cookie_first {
    "~^([^;]+; Path=[^,]*(?:, [0-9]+ [^,]*)?)" $1;
}
map $auth_cookie $auth_cookie_attributes {
    "~(; Path=[^,]*(?:, [0-9]+ [^,]*)?)" $1;
}
map $auth_cookie_1 $auth_cookie_second {
    "~." "_oauth2_proxy_1=$auth_cookie_1$auth_cookie_attributes";
}

# and now inside of the server
proxy_buffer_size 16k; # for the cookies of oauth2-proxy
proxy_buffers 4 16k;
location /oauth2/ {
    proxy_pass http://127.0.0.1:4180;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Uri $request_uri;
}
location = /oauth2/auth {
    internal;
    proxy_pass http://127.0.0.1:4180;
    proxy_set_header Host $host;
    proxy_set_header X-Forwarded-Uri $request_uri;
    proxy_set_header Content-Length "";
    proxy_pass_request_body off;
}
location / {
    auth_request /oauth2/auth;
    error_page 401 =403 /oauth2/sign_in;
    auth_request_set $user $upstream_http_x_auth_request_user;
    auth_request_set $email $upstream_http_x_auth_request_email;
    proxy_set_header X-User $user;
    proxy_set_header X-Email $email;
    # The cookie of a refreshed session goes on to the browser.
    auth_request_set $auth_cookie $upstream_http_set_cookie;
    auth_request_set $auth_cookie_1 $upstream_cookie__oauth2_proxy_1;
    add_header Set-Cookie $auth_cookie_first always;
    add_header Set-Cookie $auth_cookie_second always;
    proxy_pass http://127.0.0.1:8080;
}
"""

_CADDY: Final = """\

# --- and the Caddyfile
<base> {
	request_header -X-User
	request_header -X-Email
	handle /oauth2/* {
		reverse_proxy 127.0.0.1:4180 {
			header_up X-Real-IP {remote_host}
			header_up X-Forwarded-Uri {uri}
		}
	}
	handle {
		reverse_proxy 127.0.0.1:4180 {
			method GET
			rewrite /oauth2/auth
			header_up X-Real-IP {remote_host}
			header_up X-Forwarded-Uri {uri}
			@signed_in status 2xx
			handle_response @signed_in {
				request_header X-User {rp.header.X-Auth-Request-User}
				request_header X-Email {rp.header.X-Auth-Request-Email}
				# The cookie of a refreshed session goes on to the browser.
				copy_response_headers {
					include Set-Cookie
				}
			}
			@unauthorized status 401
			handle_response @unauthorized {
				redir * /oauth2/sign_in?rd={uri}
			}
		}
		reverse_proxy 127.0.0.1:8080
	}
}
"""

_APACHE: Final = """\
# with mod_auth_openidc; CLIENT_SECRET and PASSPHRASE come from the environment
OIDCProviderMetadataURL <issuer>/.well-known/openid-configuration
OIDCClientID <client_id>
OIDCClientSecret "${CLIENT_SECRET}"
OIDCRedirectURI <base>/oidc/callback
OIDCCryptoPassphrase "${PASSPHRASE}"
OIDCScope "openid profile email offline_access"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username

<Location />
    AuthType openid-connect
    Require valid-user
    # or: Require claim groups:staff
</Location>
"""

_GRAFANA: Final = """\
[server]
root_url = <base>/

[auth.generic_oauth]
enabled = true
name = Single sign-on
client_id = <client_id>
client_secret = $__env{CLIENT_SECRET}
auth_style = InHeader
scopes = openid profile email offline_access
auth_url = <authorize>
token_url = <token>
api_url = <userinfo>
signout_redirect_url = <end_session>?post_logout_redirect_uri=<base_quoted>%2Flogin
use_pkce = true
use_refresh_token = true
allow_sign_up = true
login_attribute_path = preferred_username
name_attribute_path = name
email_attribute_path = email
groups_attribute_path = groups
role_attribute_path = contains(groups[*], 'admin') && 'Admin' || contains(groups[*], 'editor') && 'Editor' || 'Viewer'
"""  # noqa: E501 - one line of Grafana's

_GITLAB: Final = """\
gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: 'openid_connect',
    label: 'Single sign-on',
    args: {
      name: 'openid_connect',
      scope: ['openid', 'profile', 'email'],
      response_type: 'code',
      issuer: '<issuer>',
      discovery: true,
      client_auth_method: 'basic',
      pkce: true,
      uid_field: 'sub',
      client_options: {
        identifier: '<client_id>',
        secret: '$CLIENT_SECRET',
        redirect_uri: '<base>/users/auth/openid_connect/callback'
      }
    }
  }
]
"""

_NEXTCLOUD: Final = """\
occ app:install user_oidc
occ user_oidc:provider idp \\
  --clientid='<client_id>' \\
  --clientsecret="$CLIENT_SECRET" \\
  --discoveryuri='<issuer>/.well-known/openid-configuration' \\
  --scope='openid profile email' \\
  --mapping-uid=sub \\
  --mapping-display-name=name \\
  --mapping-email=email \\
  --mapping-groups=groups \\
  --group-provisioning=1
occ config:system:set user_oidc default_token_endpoint_auth_method --value=client_secret_post
occ config:system:set user_oidc use_pkce --value=true --type=boolean
"""

_JENKINS: Final = """\
# Configuration as Code, with the plugin oic-auth; CLIENT_SECRET comes from the environment
jenkins:
  securityRealm:
    oic:
      serverConfiguration:
        wellKnown:
          wellKnownOpenIDConfigurationUrl: "<issuer>/.well-known/openid-configuration"
          scopesOverride: "openid profile email"
      clientId: "<client_id>"
      clientSecret: "${CLIENT_SECRET}"
      pkceEnabled: true
      userNameField: "preferred_username"
      fullNameFieldName: "name"
      emailFieldName: "email"
      groupsFieldName: "groups"
      logoutFromOpenidProvider: true
      postLogoutRedirectUrl: "<base>/OicLogout"
unclassified:
  location:
    url: "<base>/"
"""

_BY_PROXY: Final = CLAIMS_IN_ID_TOKEN | ROLES_AS_GROUPS | REFRESHING

PRESETS: Final[dict[str, Preset]] = {
    "oauth2-proxy": Preset(
        title="oauth2-proxy",
        kind="web",
        chosen=_BY_PROXY,
        redirect_uris=("{base}/oauth2/callback",),
        notes=(VERIFIED_EMAIL, ROLES_FIRST),
        file="oauth2-proxy.cfg",
        configuration=_PROXY + _UPSTREAM,
    ),
    "nginx": Preset(
        title="nginx (oauth2-proxy)",
        kind="web",
        chosen=_BY_PROXY,
        redirect_uris=("{base}/oauth2/callback",),
        notes=(
            message(
                "nginx doesn't sign users in: it asks oauth2-proxy about each request.",
                context="presets",
            ),
            VERIFIED_EMAIL,
        ),
        file="oauth2-proxy.cfg, nginx.conf",
        configuration=_PROXY + _BEHIND + _NGINX,
    ),
    "caddy": Preset(
        title="Caddy (oauth2-proxy)",
        kind="web",
        chosen=_BY_PROXY,
        redirect_uris=("{base}/oauth2/callback",),
        notes=(
            message(
                "Caddy doesn't sign users in: it asks oauth2-proxy about each request.",
                context="presets",
            ),
            VERIFIED_EMAIL,
        ),
        file="oauth2-proxy.cfg, Caddyfile",
        configuration=_PROXY + _BEHIND + _CADDY,
    ),
    "apache": Preset(
        title="Apache (mod_auth_openidc)",
        kind="web",
        chosen=ROLES_AS_GROUPS | REFRESHING,
        redirect_uris=("{base}/oidc/callback",),
        post_logout_redirect_uris=("{base}/",),
        back_channel_logout_uri="{base}/oidc/callback?logout=backchannel",
        notes=(
            message(
                "Serve nothing at the callback URL: the module answers there itself.",
                context="presets",
            ),
        ),
        file="oidc.conf",
        configuration=_APACHE,
    ),
    "grafana": Preset(
        title="Grafana",
        kind="web",
        chosen=ROLES_AS_GROUPS | REFRESHING,
        redirect_uris=("{base}/login/generic_oauth",),
        post_logout_redirect_uris=("{base}/login",),
        notes=(ROLES_FIRST,),
        file="grafana.ini",
        configuration=_GRAFANA,
    ),
    "gitlab": Preset(
        title="GitLab",
        kind="web",
        redirect_uris=("{base}/users/auth/openid_connect/callback",),
        file="/etc/gitlab/gitlab.rb",
        configuration=_GITLAB,
    ),
    "nextcloud": Preset(
        title="Nextcloud (user_oidc)",
        kind="web",
        chosen=SECRET_IN_FORM | CLAIMS_IN_ID_TOKEN | ROLES_AS_GROUPS,
        redirect_uris=("{base}/apps/user_oidc/code", "{base}/index.php/apps/user_oidc/code"),
        post_logout_redirect_uris=("{base}/",),
        notes=(ROLES_FIRST,),
        file="occ",
        configuration=_NEXTCLOUD,
    ),
    "jenkins": Preset(
        title="Jenkins (oic-auth)",
        kind="web",
        chosen=ROLES_AS_GROUPS,
        redirect_uris=("{base}/securityRealm/finishLogin",),
        post_logout_redirect_uris=("{base}/OicLogout",),
        notes=(
            message(
                "It replaces every other authentication method of Jenkins. "
                "Try it on a copy first.",
                context="presets",
            ),
            ROLES_FIRST,
        ),
        file="jenkins.yaml",
        configuration=_JENKINS,
    ),
}

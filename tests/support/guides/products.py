"""Guides for products and proxies that have their own client of OpenID Connect."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import Guide, Trouble

_PROXY_TEST: Final = "interop/test_proxy_guides.py"
_PROXY_VARIABLES: Final = (
    "Create the key of the cookie: "
    '`OAUTH2_PROXY_COOKIE_SECRET="$(openssl rand -hex 16)"`, and export it.',
    "Export the client secret as `OAUTH2_PROXY_CLIENT_SECRET`.",
    "Start oauth2-proxy: `oauth2-proxy --config oauth2-proxy.cfg`.",
)
_PROXY_TROUBLES: Final = (
    Trouble(
        "cookie_secret must be 16, 24, or 32 bytes to create an AES cipher",
        "`OAUTH2_PROXY_COOKIE_SECRET` is not set, or has another length.",
        "Create it with `openssl rand -hex 16`, which prints 32 characters.",
    ),
    Trouble(
        "email in id_token (…) isn't verified",
        "oauth2-proxy accepts only verified emails.",
        "Let the user verify the email on the account page.",
    ),
    Trouble(
        "Login Failed: Unable to find a valid CSRF token. Please try again.",
        "The cookie was lost: another host name, or a secure cookie over HTTP.",
        "Use HTTPS and the host name of `redirect_url`.",
    ),
)
_PROTECTED: Final = (
    "Open a page of the application: the page of oauth2-proxy appears.",
    "Select **Sign in with OpenID Connect** and sign in.",
    "The page of the application is displayed.",
)

GUIDES: Final[dict[str, Guide]] = {
    "oauth2-proxy": Guide(
        host="app.example",
        needs=(
            "oauth2-proxy 7.6 or later.",
            "An application that listens on `127.0.0.1:8080`.",
            "A server for HTTPS in front of oauth2-proxy, which listens on `127.0.0.1:4180`.",
        ),
        languages=("toml",),
        steps=_PROXY_VARIABLES,
        test=_PROTECTED,
        troubles=_PROXY_TROUBLES,
        tested_by=_PROXY_TEST,
    ),
    "nginx": Guide(
        host="app.example",
        needs=(
            "nginx with the module `auth_request`.",
            "oauth2-proxy 7.6 or later on the same machine.",
            "An application that listens on `127.0.0.1:8080`.",
        ),
        languages=("toml", "nginx"),
        steps=(
            *_PROXY_VARIABLES,
            "Add the maps beside the `server` of nginx and the rest inside of it. Reload nginx.",
        ),
        test=(
            *_PROTECTED,
            "The application receives the headers `X-User` and `X-Email`.",
        ),
        troubles=(
            *_PROXY_TROUBLES,
            Trouble(
                "Multiple cookies are required for this session as it exceeds the 4kb cookie "
                "limit. Please use server side session storage (eg. Redis) instead.",
                "The user has many roles. Sessions of two cookies work, larger ones don't.",
                'Set `session_store_type = "redis"` and `redis_connection_url`.',
            ),
        ),
        tested_by=_PROXY_TEST,
    ),
    "apache": Guide(
        host="app.example",
        needs=(
            "Apache 2.4 with mod_auth_openidc 2.4 or later.",
            "HTTPS for the site.",
        ),
        languages=("apache",),
        steps=(
            "Install the module. On Debian: `apt install libapache2-mod-auth-openidc`.",
            "Put the lines into the virtual host of the site.",
            "Set `CLIENT_SECRET` and a random `PASSPHRASE` in the environment of Apache.",
            "Restart Apache.",
        ),
        test=(
            "Open a page of the site and sign in.",
            "The page is displayed. Programs behind Apache find the name in `REMOTE_USER`.",
        ),
        troubles=(
            Trouble(
                'no "…" state cookie found: check domain and samesite cookie settings',
                "The callback is at another host name than the page that was opened first.",
                "Redirect every host name of the site to the one of `OIDCRedirectURI`.",
            ),
            Trouble(
                "the number of existing, valid state cookies (…) has exceeded the limit (…)",
                "A page requests many protected files before the user has signed in.",
                "Set `OIDCStateMaxNumberOfCookies 20 true`, and protect pages only.",
            ),
        ),
        tested_by="interop/test_presets.py",
    ),
    "caddy": Guide(
        host="app.example",
        needs=(
            "Caddy 2.6 or later.",
            "oauth2-proxy 7.6 or later on the same machine.",
            "An application that listens on `127.0.0.1:8080`.",
        ),
        languages=("toml", "text"),
        steps=(*_PROXY_VARIABLES, "Start Caddy: `caddy run --config Caddyfile`."),
        test=(
            *_PROTECTED,
            "The application receives the headers `X-User` and `X-Email`.",
        ),
        troubles=(
            *_PROXY_TROUBLES,
            Trouble(
                "dial tcp 127.0.0.1:4180: connect: connection refused",
                "oauth2-proxy does not run. Caddy answers 502.",
                "Start oauth2-proxy, and read its output.",
            ),
        ),
        tested_by=_PROXY_TEST,
    ),
    "grafana": Guide(
        host="grafana.example",
        needs=(
            "Grafana 10 or later.",
            "A role `admin` or `editor` in the project for users who are more than viewers.",
        ),
        languages=("ini",),
        steps=(
            "Set `CLIENT_SECRET` in the environment of Grafana.",
            "Restart Grafana.",
        ),
        test=(
            "Open `https://grafana.example/login` and select **Sign in with Single sign-on**.",
            "Sign in. The profile in Grafana shows the name, the email and the role.",
            "Sign out: the browser returns to the login page of Grafana.",
        ),
        troubles=(
            Trouble(
                "Missing saved oauth state",
                "The cookie of the sign-in was lost: `root_url` has another host name.",
                "Set `root_url` to the address that users open.",
            ),
            Trouble(
                "Sign up is disabled",
                "The user is new, and Grafana may not add users.",
                "Set `allow_sign_up = true`, or add the user in Grafana first.",
            ),
        ),
    ),
    "gitlab": Guide(
        host="gitlab.example",
        needs=(
            "GitLab 16 or later, installed by its Linux package.",
            "HTTPS for GitLab and for the issuer.",
        ),
        languages=("ruby",),
        steps=(
            "Replace `$CLIENT_SECRET` by the client secret.",
            "Apply the configuration: `gitlab-ctl reconfigure`.",
        ),
        test=(
            "Open `https://gitlab.example/users/sign_in` and select **Single sign-on**.",
            "Sign in. GitLab adds the user with this email.",
        ),
        troubles=(
            Trouble(
                "Could not authenticate you from OpenIDConnect because “…”",
                "GitLab can't reach the issuer, or the client secret is wrong.",
                "Read the reason in quotation marks, and `/var/log/gitlab/gitlab-rails/`.",
            ),
        ),
    ),
    "nextcloud": Guide(
        host="cloud.example",
        needs=(
            "Nextcloud 28 or later, with HTTPS.",
            "The app user_oidc, which the commands below install.",
        ),
        languages=("sh",),
        steps=(
            "Set `CLIENT_SECRET` in the shell.",
            "Run the commands as the user of the web server, in the directory of Nextcloud.",
        ),
        test=(
            "Open `https://cloud.example/login` and select **Login with idp**.",
            "Sign in. Nextcloud adds the user, with the roles as groups.",
        ),
        troubles=(
            Trouble(
                "You must access Nextcloud with HTTPS to use OpenID Connect.",
                "Nextcloud sees HTTP, often behind a proxy.",
                "Set `overwriteprotocol` to `https`, and `trusted_proxies`.",
            ),
            Trouble(
                "Could not reach the OpenID Connect provider.",
                "Nextcloud can't reach the issuer, or refuses an address of a local network.",
                "For a local issuer: "
                "`occ config:system:set allow_local_remote_servers --value=true --type=boolean`.",
            ),
        ),
    ),
    "jenkins": Guide(
        host="jenkins.example",
        needs=(
            "A current LTS release of Jenkins, with HTTPS.",
            "The plugins OpenID Connect Authentication and Configuration as Code.",
            "An administrator who can edit the files of Jenkins if the sign-in fails.",
        ),
        languages=("yaml",),
        steps=(
            "Install the plugins: `jenkins-plugin-cli --plugins oic-auth configuration-as-code`.",
            "Set `CLIENT_SECRET` in the environment of Jenkins.",
            "Let `CASC_JENKINS_CONFIG` name the file, and restart Jenkins.",
        ),
        test=(
            "Open `https://jenkins.example/login` and sign in.",
            "Open **Who am I** at `https://jenkins.example/whoAmI/`: it lists the groups.",
        ),
        troubles=(
            Trouble(
                "Well known configuration could not be loaded, login can not preceed.",
                "Jenkins can't reach the issuer.",
                "Open the URL of `wellKnownOpenIDConfigurationUrl` from the machine of Jenkins.",
            ),
            Trouble(
                "Error while loading wellknown OpenID Configuration",
                "The certificate of the issuer is not trusted by the Java of Jenkins.",
                "Add its authority to the trust store of Java.",
            ),
        ),
    ),
}

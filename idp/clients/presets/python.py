"""Presets of web applications in Python."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import (
    CLAIMS_IN_ID_TOKEN,
    EXACT_ISSUER,
    SECRET_IN_FORM,
    Preset,
)
from idp.foundation.i18n import message

_FLASK: Final = """\
# app.py: pip install flask authlib requests, then python app.py
# It reads from the environment:
#   SECRET_KEY     signs the session cookie: python -c "import secrets; print(secrets.token_hex())"
#   CLIENT_SECRET  the secret that was shown when the application was registered
import os
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for
from markupsafe import escape

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
app.config["SESSION_COOKIE_SECURE"] = "<base>".startswith("https:")
oauth = OAuth(app)
oauth.register(
    "idp",
    client_id="<client_id>",
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url="<issuer>/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    user = session.get("user")
    if user is None:
        return '<a href="/auth/login">Sign in</a>'
    form = '<form method="post" action="/auth/logout"><input type=submit value="Sign out"></form>'
    return f"Hello {escape(user['name'])} {form}"


@app.get("/auth/login")
def login():
    return oauth.idp.authorize_redirect(url_for("callback", _external=True))


@app.get("/auth/callback")
def callback():
    token = oauth.idp.authorize_access_token()
    session["user"] = {"name": token["userinfo"]["name"], "id_token": token["id_token"]}
    return redirect("/")


@app.post("/auth/logout")
def logout():
    user = session.pop("user", None)
    if user is None:
        return redirect("/")
    # The session at the identity service ends, too, and the browser comes back.
    hint = {"id_token_hint": user["id_token"], "post_logout_redirect_uri": "<base>/"}
    endpoint = oauth.idp.load_server_metadata()["end_session_endpoint"]
    return redirect(f"{endpoint}?{urlencode(hint)}", 303)


if __name__ == "__main__":
    app.run(host="localhost", port=<port>)
"""

_DJANGO: Final = """\
# settings.py, at its end: pip install mozilla-django-oidc
# It reads CLIENT_SECRET, which was shown at the registration, from the environment.
import os
from urllib.parse import urlencode

# urls.py: path("oidc/", include("mozilla_django_oidc.urls"))
# INSTALLED_APPS: "mozilla_django_oidc" after "django.contrib.auth"
AUTHENTICATION_BACKENDS = ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"]
LOGIN_URL = "oidc_authentication_init"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

OIDC_RP_CLIENT_ID = "<client_id>"
OIDC_RP_CLIENT_SECRET = os.environ["CLIENT_SECRET"]
OIDC_RP_SCOPES = "openid profile email"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = "<authorize>"
OIDC_OP_TOKEN_ENDPOINT = "<token>"
OIDC_OP_USER_ENDPOINT = "<userinfo>"
OIDC_OP_JWKS_ENDPOINT = "<keys>"
OIDC_STORE_ID_TOKEN = True
OIDC_OP_LOGOUT_URL_METHOD = f"{__name__}.end_session_url"


def end_session_url(request):
    # A form that is posted to oidc/logout/ signs out, here and at the identity service.
    hint = {"id_token_hint": request.session["oidc_id_token"]}
    hint["post_logout_redirect_uri"] = "<base>/"
    return "<end_session>?" + urlencode(hint)
"""

_ALLAUTH: Final = """\
# settings.py, at its end: pip install "django-allauth[socialaccount]"
# It reads CLIENT_SECRET, which was shown at the registration, from the environment.
import os

# urls.py: path("accounts/", include("allauth.urls"))
INSTALLED_APPS += [
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
]
MIDDLEWARE += ["allauth.account.middleware.AccountMiddleware"]
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
LOGIN_REDIRECT_URL = "/"
ACCOUNT_EMAIL_VERIFICATION = "none"  # the identity service has verified it
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "idp",
                "name": "Single sign-on",
                "client_id": "<client_id>",
                "secret": os.environ["CLIENT_SECRET"],
                "settings": {"server_url": "<issuer>"},
            }
        ],
    }
}
"""

_SOCIAL: Final = """\
# settings.py, at its end: pip install social-auth-app-django
# It reads CLIENT_SECRET, which was shown at the registration, from the environment.
import os

# urls.py: path("", include("social_django.urls", namespace="social"))
INSTALLED_APPS += ["social_django"]
AUTHENTICATION_BACKENDS = [
    "social_core.backends.open_id_connect.OpenIdConnectAuth",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_REDIRECT_URL = "/"
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "<issuer>"
SOCIAL_AUTH_OIDC_KEY = "<client_id>"
SOCIAL_AUTH_OIDC_SECRET = os.environ["CLIENT_SECRET"]
SOCIAL_AUTH_OIDC_SCOPE = ["profile", "email"]
SOCIAL_AUTH_REDIRECT_IS_HTTPS = "<base>".startswith("https:")
"""

_SLASH: Final = message("The callback URL ends with a slash.", context="presets")

PRESETS: Final[dict[str, Preset]] = {
    "flask": Preset(
        title="Flask (Authlib)",
        kind="web",
        chosen=CLAIMS_IN_ID_TOKEN,
        redirect_uris=("{base}/auth/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="app.py",
        configuration=_FLASK,
    ),
    "django": Preset(
        title="Django (mozilla-django-oidc)",
        kind="web",
        chosen=SECRET_IN_FORM,
        redirect_uris=("{base}/oidc/callback/",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            message(
                "It has no discovery, so its settings contain each URL. It "
                "expects HS256 unless RS256 is set.",
                context="presets",
            ),
            message("The callback URL ends with a slash.", context="presets"),
        ),
        file="settings.py",
        configuration=_DJANGO,
    ),
    "allauth": Preset(
        title="Django (django-allauth)",
        kind="web",
        redirect_uris=("{base}/accounts/oidc/idp/login/callback/",),
        notes=(EXACT_ISSUER, _SLASH),
        file="settings.py",
        configuration=_ALLAUTH,
    ),
    "social-auth": Preset(
        title="Django (python-social-auth)",
        kind="web",
        pkce=False,  # not in this configuration
        redirect_uris=("{base}/complete/oidc/",),
        notes=(EXACT_ISSUER, _SLASH),
        file="settings.py",
        configuration=_SOCIAL,
    ),
}

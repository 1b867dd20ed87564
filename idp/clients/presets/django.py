"""Presets of applications with Django."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import EXACT_ISSUER, REFRESHING, SECRET_IN_FORM, Preset
from idp.foundation.i18n import message

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
SOCIALACCOUNT_STORE_TOKENS = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "idp",
                "name": "Single sign-on",
                "client_id": "<client_id>",
                "secret": os.environ["CLIENT_SECRET"],
                "settings": {
                    "server_url": "<issuer>",
                    "scope": ["openid", "profile", "email", "offline_access"],
                },
            }
        ],
    }
}

# --- identity.py, beside urls.py
# urls.py: path("profile/", identity.profile), path("sign-out/", identity.sign_out)
import os
from datetime import timedelta
from urllib.parse import urlencode

import requests
from allauth.socialaccount.models import SocialToken
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST


@login_required
def profile(request):
    token = get_object_or_404(SocialToken, account__user=request.user, account__provider="idp")
    is_expiring = token.expires_at < timezone.now() + timedelta(minutes=1)
    if is_expiring and refresh(token) is None:
        logout(request)
        return redirect(request.path)  # which asks to sign in again
    headers = {"Authorization": f"Bearer {token.token}"}
    answer = requests.get("<userinfo>", headers=headers, timeout=10)
    return JsonResponse(answer.json())


@require_POST
@login_required
def sign_out(request):
    # The library keeps no ID token, so a refresh gets the hint. The session at the identity
    # service ends, too, and the browser comes back.
    tokens = SocialToken.objects.filter(account__user=request.user, account__provider="idp")
    id_token = refresh(tokens[0]) if tokens else None
    logout(request)
    if id_token is None:
        return redirect("/")
    hint = {"id_token_hint": id_token, "post_logout_redirect_uri": "<base>/"}
    return redirect("<end_session>?" + urlencode(hint))


def refresh(token):
    # Gets a new access token and a new refresh token, and returns the ID token that comes with
    # them, or None if the refresh is refused.
    body = {"grant_type": "refresh_token", "refresh_token": token.token_secret}
    secret = ("<client_id>", os.environ["CLIENT_SECRET"])
    answer = requests.post("<token>", data=body, auth=secret, timeout=10)
    if not answer.ok:
        return None
    fresh = answer.json()
    token.token, token.token_secret = fresh["access_token"], fresh["refresh_token"]
    token.expires_at = timezone.now() + timedelta(seconds=fresh["expires_in"])
    token.save()
    return fresh["id_token"]
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
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "<issuer>"
SOCIAL_AUTH_OIDC_KEY = "<client_id>"
SOCIAL_AUTH_OIDC_SECRET = os.environ["CLIENT_SECRET"]
SOCIAL_AUTH_OIDC_SCOPE = ["profile", "email", "offline_access"]
SOCIAL_AUTH_OIDC_EXTRA_DATA = ["expires_in"]  # beside the tokens
SOCIAL_AUTH_REDIRECT_IS_HTTPS = "<base>".startswith("https:")

# --- identity.py, beside urls.py
# urls.py: path("sign-in/", identity.sign_in), path("sign-out/", identity.sign_out),
#   path("profile/", identity.profile)
from datetime import timedelta
from urllib.parse import urlencode

import requests
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html
from django.views.decorators.http import require_POST
from social_core.exceptions import SocialAuthBaseException
from social_django.utils import load_strategy

FORM = (
    '<form method="post" action="/login/oidc/"><input type="submit" value="Sign in">'
    '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
    '<input type="hidden" name="next" value="{}"></form>'
)


def sign_in(request):
    # The library begins a sign-in by POST alone.
    page = request.GET.get("next", "/")
    return HttpResponse(format_html(FORM, get_token(request), page))


@login_required
def profile(request):
    account = get_object_or_404(request.user.social_auth, provider="oidc")
    if account.expiration_timedelta() < timedelta(minutes=1):
        try:
            account.refresh_token(load_strategy(request))
        except SocialAuthBaseException:
            logout(request)
            return redirect(request.path)  # which asks to sign in again
    headers = {"Authorization": f"Bearer {account.access_token}"}
    answer = requests.get("<userinfo>", headers=headers, timeout=10)
    return JsonResponse(answer.json())


@require_POST
@login_required
def sign_out(request):
    # The session at the identity service ends, too, and the browser comes back.
    account = request.user.social_auth.filter(provider="oidc").first()
    logout(request)
    if account is None:
        return redirect("/")
    id_token = account.extra_data["id_token"]
    hint = {"id_token_hint": id_token, "post_logout_redirect_uri": "<base>/"}
    return redirect("<end_session>?" + urlencode(hint))
"""

_SLASH: Final = message("The callback URL ends with a slash.", context="presets")

PRESETS: Final[dict[str, Preset]] = {
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
        chosen=REFRESHING,
        redirect_uris=("{base}/accounts/oidc/idp/login/callback/",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER, _SLASH),
        file="settings.py, identity.py",
        configuration=_ALLAUTH,
    ),
    "social-auth": Preset(
        title="Django (python-social-auth)",
        kind="web",
        pkce=False,  # not in this configuration
        chosen=REFRESHING,
        redirect_uris=("{base}/complete/oidc/",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER, _SLASH),
        file="settings.py, identity.py",
        configuration=_SOCIAL,
    ),
}

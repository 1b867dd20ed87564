"""Guides for applications with Django."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import Guide, Trouble

_PROGRAMS: Final = "interop/test_preset_programs.py"
_LIBRARIES: Final = "interop/test_plain_applications.py"
_SECRET: Final = "Set `CLIENT_SECRET` in the environment and restart the application."  # noqa: S105
_DJANGO: Final = "Django 4.2 or later, with its sessions and a database."

GUIDES: Final[dict[str, Guide]] = {
    "django": Guide(
        host="shop.example",
        needs=(
            _DJANGO,
            "The package mozilla-django-oidc 4 or later.",
        ),
        languages=("python",),
        steps=(
            "Install the package: `pip install mozilla-django-oidc`.",
            'Add `"mozilla_django_oidc"` to `INSTALLED_APPS`, after `"django.contrib.auth"`.',
            'Add `path("oidc/", include("mozilla_django_oidc.urls"))` to `urlpatterns`.',
            "Set `CLIENT_SECRET` in the environment and restart the application.",
        ),
        test=(
            "Open `https://shop.example/oidc/authenticate/` and sign in.",
            "The browser returns to `/`, where `request.user` is the user with this email.",
            "Post a form to `/oidc/logout/`: the session of the service ends, too.",
        ),
        troubles=(
            Trouble(
                "OIDC callback state not found in session `oidc_states`!",
                "The session cookie was lost, or the callback was opened twice.",
                "Use one host name, and `SESSION_COOKIE_SECURE` only with HTTPS.",
            ),
            Trouble(
                "JWS token verification failed.",
                "The ID token is signed by another algorithm or key.",
                "Keep `OIDC_RP_SIGN_ALGO` and `OIDC_OP_JWKS_ENDPOINT` as above.",
            ),
            Trouble(
                "Claims verification failed",
                "UserInfo has no email: the user has none, or the scope is missing.",
                "Add an email to the user, and keep `email` in `OIDC_RP_SCOPES`.",
            ),
        ),
        tested_by=_PROGRAMS,
    ),
    "allauth": Guide(
        host="shop.example",
        needs=(_DJANGO, "The package django-allauth 65 or later."),
        languages=("python", "python"),
        steps=(
            'Install the package: `pip install "django-allauth[socialaccount]"`.',
            'Add `path("accounts/", include("allauth.urls"))` to `urlpatterns`.',
            'Add `path("profile/", identity.profile)` and '
            '`path("sign-out/", identity.sign_out)` there, too.',
            "Make the tables: `python manage.py migrate`.",
            _SECRET,
        ),
        test=(
            "Open `https://shop.example/accounts/oidc/idp/login/`, continue and sign in.",
            "The browser returns to `/`, where `request.user` is the user with this email.",
            "Open `/profile/`: it shows the claims of the user, also after the access token has "
            "expired.",
            "Post a form to `/sign-out/`: the session of the service ends, too.",
        ),
        troubles=(
            Trouble(
                "Third-Party Login Failure",
                "The callback was opened in another browser, or the session cookie was lost.",
                "Use one host name, and begin the sign-in again.",
            ),
        ),
        tested_by=_LIBRARIES,
    ),
    "social-auth": Guide(
        host="shop.example",
        needs=(_DJANGO, "The package social-auth-app-django 5 or later."),
        languages=("python", "python"),
        steps=(
            "Install the package: `pip install social-auth-app-django`.",
            'Add `path("", include("social_django.urls", namespace="social"))` to `urlpatterns`.',
            'Add `path("sign-in/", identity.sign_in)`, `path("sign-out/", identity.sign_out)` and '
            '`path("profile/", identity.profile)` there, too.',
            "Make the tables: `python manage.py migrate`.",
            _SECRET,
        ),
        test=(
            "Open `https://shop.example/sign-in/`, select **Sign in** and sign in.",
            "The browser returns to `/`, where `request.user` is the user.",
            "Open `/profile/`: it shows the claims of the user, also after the access token has "
            "expired.",
            "Post a form to `/sign-out/`: the session of the service ends, too.",
        ),
        troubles=(
            Trouble(
                "Session value state missing.",
                "The callback was opened in another browser, or the session cookie was lost.",
                "Use one host name, and begin the sign-in again.",
            ),
        ),
        tested_by=_LIBRARIES,
    ),
}

"""Guides for applications with Flask."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import GOODBYE, HELLO, HTTPS, PROFILE, Guide, Trouble

_PROGRAMS: Final = "interop/test_preset_programs.py"
_LIBRARIES: Final = "interop/test_plain_applications.py"

GUIDES: Final[dict[str, Guide]] = {
    "flask": Guide(
        host="shop.example",
        needs=(
            "Python 3.10 or later, with the packages Flask, Authlib and Requests.",
            HTTPS,
        ),
        languages=("python",),
        steps=(
            "Install the packages: `pip install flask authlib requests`.",
            "Set `SECRET_KEY` and `CLIENT_SECRET` in the environment.",
            "Start the application: `python app.py`.",
            "The session cookie keeps the ID token alone: no access token and no refresh token.",
        ),
        test=(*HELLO, "Open the page in a private window: it shows **Sign in** again.", GOODBYE),
        troubles=(
            Trouble(
                "mismatching_state: CSRF Warning! State not equal in request and response.",
                "The session cookie was lost: another host name, or another `SECRET_KEY`.",
                "Use one host name, and the same `SECRET_KEY` in every process.",
            ),
        ),
        tested_by=_PROGRAMS,
    ),
    "flask-oidc": Guide(
        host="shop.example",
        needs=("Python 3.10 or later, with the packages Flask and flask-oidc 2.", HTTPS),
        languages=("python",),
        steps=(
            "Install the package: `pip install flask-oidc`.",
            "Set `SECRET_KEY` and `CLIENT_SECRET` in the environment.",
            "Start the application: `python app.py`.",
            "The library keeps all tokens in the session cookie, which is signed and not "
            "encrypted. For sessions on the server, install Flask-Session.",
        ),
        test=(
            *HELLO,
            PROFILE,
            GOODBYE,
        ),
        troubles=(
            Trouble(
                "mismatching_state: CSRF Warning! State not equal in request and response.",
                "The session cookie was lost: another host name, or another `SECRET_KEY`.",
                "Use one host name, and the same `SECRET_KEY` in every process.",
            ),
        ),
        tested_by=_LIBRARIES,
    ),
}

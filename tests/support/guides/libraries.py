"""Guides for libraries that applications sign users in with."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import GOODBYE, HELLO, HTTPS, PROFILE, Guide, Trouble

_TEST: Final = "interop/test_plain_applications.py"
_HELLO: Final = (*HELLO, PROFILE, GOODBYE)

GUIDES: Final[dict[str, Guide]] = {
    "passport": Guide(
        host="shop.example",
        needs=("Node.js 20 or later, with the packages named below.", HTTPS),
        languages=("js",),
        steps=(
            "Install the packages: "
            "`npm install express express-session passport passport-openidconnect`.",
            "Set `SESSION_SECRET` and `CLIENT_SECRET` in the environment.",
            "Start the program: `node server.js`.",
        ),
        test=_HELLO,
        troubles=(
            Trouble(
                "Forbidden",
                "The callback was opened in another browser, or the session cookie was lost.",
                "Use one host name, and open `/login` again.",
            ),
        ),
        tested_by=_TEST,
    ),
    "go": Guide(
        host="shop.example",
        needs=("Go 1.26 or later.", HTTPS),
        languages=("go",),
        steps=(
            "Make a module: `go mod init shop.example/app`.",
            "Add the packages go-oidc and oauth2: `go mod tidy`.",
            "Set `CLIENT_SECRET` in the environment.",
            "Start the program: `go run .`.",
        ),
        test=_HELLO,
        troubles=(
            Trouble(
                "this browser has not begun this sign-in: begin at /login",
                "The callback was opened in another browser, or more than 10 minutes later.",
                "Open `/login` again.",
            ),
            Trouble(
                "oidc: issuer URL provided to client (…) did not match the issuer URL returned "
                "by provider (…)",
                "The issuer in the program is another one, often by a slash at its end.",
                "Copy `issuer` from `https://id.example/.well-known/openid-configuration`.",
            ),
        ),
        tested_by=_TEST,
    ),
    "oidc-spa": Guide(
        host="app.example",
        needs=(
            "A single-page application with the package oidc-spa 10.",
            "A web server that serves the page at `/`.",
        ),
        languages=("ts",),
        steps=(
            "Install the package: `npm install oidc-spa`.",
            "Import `oidc.ts` first in the program of the page.",
        ),
        test=(
            "Call `oidc.login()` and sign in: the browser returns to the application.",
            "`oidc.isUserLoggedIn` is then true.",
            "Reload the page: the user is still signed in, without the password.",
            'Call `oidc.logout({ redirectTo: "home" })`: the next sign-in asks for the password '
            "again.",
        ),
        tested_by="browser/flows/test_single_page_app.py",
    ),
}

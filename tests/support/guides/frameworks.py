"""Guides for the frameworks that web applications are written with."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import GOODBYE, HELLO, HTTPS, Guide, Trouble

_PROGRAMS: Final = "interop/test_preset_programs.py"
_HELLO: Final = (
    *HELLO,
    "Open the page in a private window: it shows **Sign in** again.",
)
_UNREACHABLE: Final = (
    "The application can't reach the issuer, or the issuer in its settings is another one."
)
_OPEN_DISCOVERY: Final = (
    "Open `https://id.example/.well-known/openid-configuration` from the machine of the "
    "application, and copy `issuer` from there."
)

GUIDES: Final[dict[str, Guide]] = {
    "node": Guide(
        host="shop.example",
        needs=(
            "Node.js 20 or later, with the package openid-client 6.",
            HTTPS,
        ),
        languages=("js",),
        steps=(
            "Install the package: `npm install openid-client@6`.",
            "Set `CLIENT_SECRET` in the environment.",
            "Start the program: `node server.mjs`.",
        ),
        test=(*_HELLO, GOODBYE),
        troubles=(
            Trouble(
                "this browser has not begun this sign-in, or too long ago: begin at /login",
                "The callback was opened in another browser, or more than 10 minutes later.",
                "Open `/login` again.",
            ),
            Trouble(
                'unexpected "iss" (issuer) response parameter value',
                _UNREACHABLE,
                _OPEN_DISCOVERY,
            ),
        ),
        tested_by=_PROGRAMS,
    ),
    "express": Guide(
        host="shop.example",
        needs=(
            "Node.js 20 or later, with the packages express and express-openid-connect.",
            HTTPS,
        ),
        languages=("js",),
        steps=(
            "Install the packages: `npm install express express-openid-connect`.",
            "Set `SESSION_SECRET` and `CLIENT_SECRET` in the environment.",
            "Start the program: `node server.js`.",
        ),
        test=(*_HELLO, "Open `/profile`: it shows the claims of the user as JSON."),
        troubles=(
            Trouble(
                '"auth_verification" cookie not found.',
                "The cookie of the sign-in was lost: the callback is at another host name.",
                "Set `baseURL` to the address that users open.",
            ),
            Trouble(
                "Authentication is required for this route.",
                "A page with `requiresAuth()` was requested by a script, not by a browser.",
                "Open the page in a browser, or sign in at `/login` first.",
            ),
        ),
        tested_by=_PROGRAMS,
    ),
    "nextjs": Guide(
        host="shop.example",
        needs=(
            "Next.js 14 or later with the App Router.",
            "The package next-auth 5 (Auth.js).",
        ),
        languages=("ts",),
        steps=(
            "Install the package: `npm install next-auth@beta`.",
            "Create `app/api/auth/[...nextauth]/route.ts` as the comment in `auth.ts` says.",
            "Set `AUTH_SECRET`, `CLIENT_SECRET` and `AUTH_URL=https://shop.example`.",
        ),
        test=(
            "Open `https://shop.example/api/auth/signin` and select **Single sign-on**.",
            "Sign in. `https://shop.example/api/auth/session` then shows name and email.",
            "Open `https://shop.example/api/auth/signout` and select **Sign out**. The next "
            "sign-in asks for the password again.",
        ),
        troubles=(
            Trouble(
                "UntrustedHost: Host must be trusted.",
                "Auth.js doesn't trust the host name of the request.",
                "Set `AUTH_URL`, or `AUTH_TRUST_HOST=true` behind a proxy.",
            ),
            Trouble(
                "MissingSecret",
                "`AUTH_SECRET` is not set.",
                "Create one with `npx auth secret`.",
            ),
        ),
    ),
    "spring": Guide(
        host="shop.example",
        needs=(
            "Spring Boot 3 or later.",
            "The dependency `spring-boot-starter-oauth2-client`.",
        ),
        languages=("yaml", "java"),
        steps=(
            "Begin `SecurityConfiguration.java` with the package of the application.",
            "Set `CLIENT_SECRET` in the environment and restart the application.",
            "Behind a proxy, set `server.forward-headers-strategy: framework` as well.",
        ),
        test=(
            "Open `https://shop.example/oauth2/authorization/idp` and sign in.",
            "The browser returns to the page that was requested first.",
            "Open `https://shop.example/logout` and select **Log Out**: the next sign-in asks for "
            "the password again.",
        ),
        troubles=(
            Trouble(
                "[authorization_request_not_found]",
                "The session cookie was lost between the request and the callback.",
                "Use one host name. On `localhost`, give each program another cookie name.",
            ),
            Trouble(
                'Unable to resolve Configuration with the provided Issuer of "…"',
                _UNREACHABLE,
                _OPEN_DISCOVERY,
            ),
        ),
    ),
    "aspnet": Guide(
        host="shop.example",
        needs=(
            "ASP.NET Core 8 or later.",
            "The package `Microsoft.AspNetCore.Authentication.OpenIdConnect`.",
        ),
        languages=("csharp",),
        steps=(
            "Add the package with `dotnet add package`.",
            "Call `app.UseAuthentication()` and `app.UseAuthorization()` after routing.",
            "Set `CLIENT_SECRET` in the environment and restart the application.",
        ),
        test=(
            "Open a page with `[Authorize]` and sign in.",
            "The page is displayed, and `User.Claims` has the email.",
        ),
        troubles=(
            Trouble(
                "Correlation failed.",
                "The cookie `.AspNetCore.Correlation.…` was lost, often behind a proxy.",
                "Use HTTPS, and `UseForwardedHeaders` behind a proxy.",
            ),
            Trouble(
                "IDX20803: Unable to obtain configuration from: '…'",
                _UNREACHABLE,
                _OPEN_DISCOVERY,
            ),
        ),
    ),
}

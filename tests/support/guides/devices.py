"""Guides for native applications, single-page applications, and APIs that only check tokens."""

from __future__ import annotations

from typing import Final

from tests.support.guides.guide import Guide, Trouble

GUIDES: Final[dict[str, Guide]] = {
    "kubernetes": Guide(
        needs=(
            "Kubernetes 1.34 or later, whose API server you can configure.",
            "kubectl with the plugin kubelogin (`kubectl oidc-login`).",
            "An issuer with HTTPS, whose certificate the API server trusts.",
        ),
        languages=("yaml", "yaml"),
        steps=(
            "Add the user to the kubeconfig of each user.",
            "Start the API server with `--authentication-config=authentication.yaml`.",
            "Bind roles to the groups, which begin with `idp:`.",
        ),
        test=(
            "Run `kubectl --user=idp auth whoami`. A browser opens: sign in.",
            "The command prints the username and the groups.",
        ),
        troubles=(
            Trouble(
                "error: You must be logged in to the server (Unauthorized)",
                "The API server refused the ID token.",
                "Read the log of the API server, which names the reason.",
            ),
            Trouble(
                'oidc: verify token: oidc: expected audience "…" got ["…"]',
                "The client IDs in kubeconfig and `audiences` differ.",
                "Use the client ID of the application in both.",
            ),
        ),
    ),
    "spa": Guide(
        host="app.example",
        needs=(
            "A single-page application with the package oidc-client-ts 3.",
            "A web server that serves the page at `/` and at `/callback`.",
        ),
        languages=("ts",),
        steps=(
            "Install the package: `npm install oidc-client-ts`.",
            "Call `users.signinRedirectCallback()` in the page at `/callback`.",
        ),
        test=(
            "Call `users.signinRedirect()` and sign in.",
            "`await users.getUser()` then has the profile and an access token.",
        ),
        troubles=(
            Trouble(
                "No matching state found in storage",
                "The callback was opened in another tab or a second time.",
                "Begin the sign-in again, and call `signinRedirectCallback()` once.",
            ),
            Trouble(
                "authority mismatch on settings vs. signin state",
                "The page at `/callback` has another `authority`.",
                "Use the same settings in both pages.",
            ),
        ),
        tested_by="browser/flows/test_single_page_app.py",
    ),
    "native": Guide(
        host="app.example",
        needs=(
            "A mobile or desktop app with AppAuth.",
            "The scheme of the redirect URI, registered in the app for its callbacks.",
        ),
        languages=("text",),
        steps=(
            "Enter the values in the configuration of AppAuth.",
            "Android: set `appAuthRedirectScheme` in `build.gradle`.",
            "iOS: add the scheme to `CFBundleURLTypes` in `Info.plist`.",
        ),
        test=(
            "Start the sign-in in the app. The browser of the system opens: sign in.",
            "The app is displayed again, and has an ID token.",
        ),
        troubles=(
            Trouble(
                "Response state param did not match request state",
                "The response belongs to an earlier sign-in of the app.",
                "Begin the sign-in again.",
            ),
        ),
    ),
    "cli": Guide(
        needs=("curl, or an HTTP library of the tool's language.",),
        languages=("sh",),
        steps=(
            "With a browser on the same machine, use the first part.",
            "Without one, run the commands. "
            "Copy `device_code` from the first answer into `DEVICE_CODE`.",
        ),
        test=(
            "Run the first command. Open `verification_uri` on any device and enter `user_code`.",
            "Sign in and select **Allow**. The second command then prints the tokens.",
        ),
        troubles=(
            Trouble(
                "authorization_pending",
                "The user has not entered the code yet.",
                "Repeat the second command after 5 seconds.",
            ),
            Trouble(
                "slow_down",
                "The second command is repeated too fast.",
                "Wait 5 seconds longer each time.",
            ),
            Trouble(
                "expired_token",
                "The code was not entered within five minutes.",
                "Begin again with the first command.",
            ),
        ),
        tested_by="interop/test_shell_guides.py",
    ),
    "api": Guide(
        needs=(
            "An API that receives access tokens, and can call this service.",
            "An application in the same project, which signs users in and calls the API.",
        ),
        languages=("sh",),
        steps=(
            "Set `CLIENT_SECRET` in the environment of the API.",
            "Send the request for each token, or keep the answer for some seconds.",
        ),
        test=(
            "Sign in with the other application, and copy its access token into `TOKEN`.",
            'Run the command: it prints `"active":true`, the user and the scopes.',
            'Change a character of the token: it prints `{"active":false}`.',
        ),
        tested_by="interop/test_shell_guides.py",
    ),
}

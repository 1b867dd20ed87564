"""`idp feature`, `idp background`, `idp usage` and `idp security`: the whole installation."""

from __future__ import annotations

from idp import api
from idp.cli.building import group
from idp.cli.command import Command

feature = group(
    "feature",
    "Features of the instance.",
    [
        Command(
            "show",
            api.instance.FEATURES,
            "idp feature show",
            summary="Show the features, and whether each is on.",
        ),
        Command("set", api.instance.SET_FEATURES, "idp feature set --oidc-token-exchange"),
    ],
)

background = group(
    "background",
    "Background tasks of the installation.",
    [
        Command(
            "list",
            api.instance.BACKGROUND_TASKS,
            "idp background list",
            columns=("name", "interval", "nextTurn"),
            summary="List the background tasks, and when each runs next.",
        )
    ],
)

usage = group(
    "usage",
    "Figures of sign-ins and active users over time.",
    [
        Command(
            "search",
            api.usage.SEARCH,
            "idp usage search --kind sign_in --kind sign_in_failed --from 7d",
            columns=("kind", "total"),
            summary="Search for figures of hours or days; they are approximate.",
        )
    ],
)

security = group(
    "security",
    "The security policy of the instance.",
    [
        Command(
            "show", api.instance.SECURITY, "idp security show", summary="Show the security policy."
        ),
        Command(
            "set",
            api.instance.SET_SECURITY,
            "idp security set --enable-impersonation",
            base=(api.instance.SECURITY, "policy"),
            summary="Change the security policy; settings without an option stay the same.",
        ),
    ],
)

"""`idp feature`, `idp background` and `idp security`: settings of the whole installation."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_FEATURES: Final = "/v2/features/instance"
_SECURITY: Final = "/admin/v1/policies/security"

feature = group(
    "feature",
    "Features of the instance.",
    [
        command(
            "show",
            f"GET {_FEATURES}",
            "idp feature show",
            summary="Show the features, and whether each is on.",
        ),
        command("set", f"PUT {_FEATURES}", "idp feature set --oidc-token-exchange"),
    ],
)

background = group(
    "background",
    "Background tasks of the installation.",
    [
        command(
            "list",
            "GET /admin/v1/background",
            "idp background list",
            columns=("name", "interval", "nextTurn"),
            summary="List the background tasks, and when each runs next.",
        ),
    ],
)

security = group(
    "security",
    "The security policy of the instance.",
    [
        command(
            "show", f"GET {_SECURITY}", "idp security show", summary="Show the security policy."
        ),
        command(
            "set",
            f"PUT {_SECURITY}",
            "idp security set --enable-impersonation",
            base=(f"GET {_SECURITY}", "policy"),
            summary="Change the security policy; settings without an option stay the same.",
        ),
    ],
)

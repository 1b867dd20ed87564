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
        command("show", f"GET {_FEATURES}", "idp feature show", summary="Show which are on."),
        command("set", f"PUT {_FEATURES}", "idp feature set --oidc-token-exchange"),
    ],
)

background = group(
    "background",
    "What the installation does by itself.",
    [
        command(
            "list",
            "GET /admin/v1/background",
            "idp background list",
            columns=("name", "interval", "nextTurn"),
            summary="List what the installation does by itself, and when it is next.",
        ),
    ],
)

security = group(
    "security",
    "The security policy of the instance.",
    [
        command("show", f"GET {_SECURITY}", "idp security show", summary="Show the policy."),
        command(
            "set",
            f"PUT {_SECURITY}",
            "idp security set --enable-impersonation",
            base=(f"GET {_SECURITY}", "policy"),
            summary="Change the policy; what is not named stays.",
        ),
    ],
)

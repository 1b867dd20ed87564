"""The names of endpoints in metrics: one for each handler of the protocol and of the sign-in, and
one for each other area, so that they are few and never contain what a request sent.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

OTHER: Final = "other"

# By the module of the handler, or a package that it is in.
_NAMES: Final = {
    "handlers.account": "account",
    "handlers.api": "management",
    "handlers.asset_uploads": "management",
    "handlers.console": "console",
    "handlers.events": "events",
    "handlers.health": "health",
    "handlers.login.accounts": "login_accounts",
    "handlers.login.change_password": "login_change_password",
    "handlers.login.connection_test": "login_connection_test",
    "handlers.login.consent": "login_consent",
    "handlers.login.device": "login_device",
    "handlers.login.factor_enrolment": "login_factor_enrolment",
    "handlers.login.factors": "login_factor",
    "handlers.login.idp_account": "login_provider",
    "handlers.login.logout": "login_logout",
    "handlers.login.name": "login_name",
    "handlers.login.not_allowed": "login_not_allowed",
    "handlers.login.organization": "login_organization",
    "handlers.login.passkey": "login_passkey",
    "handlers.login.passkey_enrol": "login_passkey_enrolment",
    "handlers.login.password": "login_password",
    "handlers.login.providers": "login_provider",
    "handlers.login.register": "login_register",
    "handlers.login.reset": "login_reset",
    "handlers.login.reset_link": "login_reset",
    "handlers.login.setup_link": "login_setup",
    "handlers.login.verify_address": "login_verify",
    "handlers.login.verify_email": "login_verify",
    "handlers.pages.branding_files": "static",
    "handlers.pages.demo": "demo",
    "handlers.pages.docs": "docs",
    "handlers.pages.held_mail": "held_mail",
    "handlers.pages.openapi": "docs",
    "handlers.pages.static_handler": "static",
    "handlers.pages.test_mode": "test",
    "handlers.protocol.authorize": "authorize",
    "handlers.protocol.device": "device_authorization",
    "handlers.protocol.discovery": "discovery",
    "handlers.protocol.end_session": "end_session",
    "handlers.protocol.introspect": "introspect",
    "handlers.protocol.jwks": "jwks",
    "handlers.protocol.par": "par",
    "handlers.protocol.token": "token",
    "handlers.protocol.userinfo": "userinfo",
}


@cache
def endpoint_name(handler: Any) -> str:
    """Returns the name of the endpoint that a class of handlers answers; `OTHER` without one."""
    endpoint: object = getattr(handler, "endpoint", None)
    if isinstance(endpoint, str):
        return endpoint
    module = handler.__module__
    while module and module not in _NAMES:
        module = module.rpartition(".")[0]
    return _NAMES.get(module, OTHER)

"""The announcement of a start, for people as text and for programs as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import structs

from idp.config.settings import Config
from idp.config.urls import without_password
from idp.foundation.opaque_tokens import Confidential
from idp.mail import messages, smtp
from idp.oauth.paths import AUTHORIZE, KEYS, USERINFO
from idp.start import first_start
from idp.start.demo_setup import DemoDescription
from idp.start.first_start import Admin

SQLITE: Final = "sqlite:///"


class Start(Confidential, frozen=True):
    """The announcement of a start, which is printed as text (`banner`) or as JSON. `is_first` says
    whether this start made the installation."""

    config: Config
    admin: Admin
    demo: DemoDescription | None
    admin_pat: str | None
    is_first: bool

    def without_secrets(self) -> Start:
        """Returns the announcement without passwords, the token and the demo, whose secrets are
        constant."""
        admin = structs.replace(self.admin, password=None)
        return structs.replace(self, admin=admin, demo=None, admin_pat=None)

    def as_json(self) -> dict[str, Any]:
        """Returns the object that `--json` prints; scripts rely on its keys."""
        config, demo = self.config, self.demo
        return {
            "issuer": config.issuer,
            "store": absolute_store_url(config.store),
            "dataDir": str(config.data_dir.absolute()),
            "admin": {
                "loginName": self.admin.login_name,
                "password": self.admin.password,
                "setupUrl": self.setup_url(),
            },
            "demo": _demo_json(demo) if demo else None,
            "adminPat": self.admin_pat,
            "mail": {
                "state": "smtp" if config.sends_mail else "held",
                "url": messages.page_url(config),
            },
            "curl": self.curl(),
        }

    def setup_url(self) -> str | None:
        """Returns the address of the page on which the first administrator only chooses a new
        password; None without a one-time password.

        Browsers do not send the part after #, so the one-time password appears in no log and at no
        proxy.
        """
        if self.admin.password is None:
            return None
        fragment = {"t": self.admin.password, "u": self.admin.login_name}
        return f"{self.config.issuer}{first_start.PAGE}#{urlencode(fragment, quote_via=quote)}"

    def curl(self) -> list[str]:
        """Returns example command lines, each of which works unchanged and independently of the
        others.
        """
        config = self.config
        curl = "curl -fsS"
        if config.tls_cert:
            curl += f" --cacert {_quoted(config.tls_cert)}"
        lines = [
            f"{curl} {config.issuer}/.well-known/openid-configuration",
            f"{curl} {config.issuer}{KEYS}",
            f"{curl} {config.issuer}/readyz",
        ]
        if self.demo:
            query = (
                f"client_id={self.demo.client_id}&response_type=code&scope=openid"
                f"&redirect_uri={self.demo.redirect_uri}"
            )
            url = f"{config.issuer}{AUTHORIZE}?{query}"
            lines.append(f"{curl} -o /dev/null -w '%{{redirect_url}}\\n' '{url}'")
        if config.admin_pat:
            token = f"$(cat {_quoted(config.admin_pat)})"
            lines.append(f'{curl} -H "Authorization: Bearer {token}" {config.issuer}{USERINFO}')
        return lines


def absolute_store_url(store: str) -> str:
    """Returns a store's URL that is valid in any working directory, without its password."""
    if store.startswith(SQLITE):
        return SQLITE + str(Path(store.removeprefix(SQLITE)).absolute())
    return without_password(store)


def _quoted(file: str) -> str:
    """Returns a file's name for a command line in any working directory."""
    return shlex.quote(str(Path(file).absolute()))


def _demo_json(demo: DemoDescription) -> dict[str, Any]:
    return {
        "clientId": demo.client_id,
        "clientSecret": demo.client_secret,
        "redirectUri": demo.redirect_uri,
        "postLogoutRedirectUri": demo.post_logout_redirect_uri,
        "url": demo.url,
        "user": {"loginName": demo.login_name, "password": demo.password},
    }


def banner(start: Start, seconds: float, version: str) -> str:
    """Returns the announcement as the text that the operator sees; `seconds` is how long the start
    took, and `version` that of the program. Only the first start shows the one-time password.
    """
    config, admin, demo = start.config, start.admin, start.demo
    lines = [f"idp {version} ready in {seconds:.1f} s"]
    lines.append(f"  Issuer    {config.issuer}")
    lines.append(f"  Store     {_store_line(config)}")
    if admin.password and start.is_first:
        minutes = config.one_time_password_seconds // 60
        lines.append(
            f"  Admin     {admin.login_name}   one-time password  {admin.password}"
            f"   ({minutes} min, then you choose your own)"
        )
        lines.append(f"            or open once:  {start.setup_url()}")
    else:
        lines.append(f"  Admin     {admin.login_name}")
    lines.append(f"  Lost it?  idp admin reset-password {admin.login_name}")
    if demo:
        password = f"   password {demo.password}" if demo.password else ""
        lines.append(f"  Demo      {demo.url}   user {demo.login_name}{password}")
    if config.sends_mail:
        lines.append(f"  Mail      by {config.smtp_host}:{smtp.port(config)}")
    elif config.is_loopback:
        lines.append(f"  Mail      held: {messages.page_url(config)}")
    if config.test:
        lines.append(f"  Test      POST {config.issuer}/test/clock, /test/reset")
    lines.append("  Try       " + start.curl()[0])
    return "\n".join(lines)


def _store_line(config: Config) -> str:
    if config.test and config.store.startswith("sqlite:"):
        return f"{config.data_dir}/   (for tests)"
    if config.store.startswith("sqlite:"):
        return f"{config.data_dir}/   (the whole service; back this directory up)"
    return config.store.partition("://")[0] + "://…"

"""Second factors for tests: users who have one, the codes of their app, and the policies."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from datetime import datetime

from idp.identity.factors import recovery_codes, second_factors
from idp.policies.effective import policy_id
from idp.records import POLICIES, USERS, LoginRules, Policy
from storage import Delete, Insert, Update

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def code(clock, secret: str = SECRET, steps: int = 0) -> str:
    """The code of the app now, or this number of steps of 30 seconds later."""
    return code_at(secret, clock.now(), steps)


def code_at(secret: str, instant: datetime, steps: int = 0) -> str:
    """The code of RFC 6238 at an instant, or so many steps later, by the standard library."""
    step = int(instant.timestamp()) // 30 + steps
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, step.to_bytes(8, "big"), hashlib.sha1)
    at = digest[-1] & 15
    number = int.from_bytes(digest[at : at + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**6:06}"


def wrong(clock, secret: str = SECRET) -> str:
    """Six digits that are no valid code of the app at this time."""
    near = {code(clock, secret, steps) for steps in range(-3, 4)}
    return next(f"{n:06}" for n in range(10) if f"{n:06}" not in near)


def secret_of(page) -> str:
    """The secret that the page of a new app shows."""
    found = re.search(r'<code id="key" dir="ltr">([^<]*)', page.text)
    return found[1].replace(" ", "")


def codes_of(page) -> list[str]:
    """The recovery codes that a page shows."""
    found = re.search(r'<pre class="codes"[^>]*>([^<]*)', page.text)
    return found[1].split()


async def user_of(server, login_key: str | None = None):
    found = await server.store.find(USERS, {"login_key": login_key or server.user[0]})
    return found.records[0]


async def give_app(server, login_key: str | None = None, secret: str = SECRET):
    """Gives a person an authenticator app, as an import would."""
    user = await user_of(server, login_key)
    totp = second_factors.imported(server.service, user.id, secret)
    await server.store.commit(Update(USERS, user.id, set={"totp": totp}))


async def give_codes(server, login_key: str | None = None) -> list[str]:
    """Gives a person recovery codes."""
    user, now = await user_of(server, login_key), server.clock.now()
    made = await recovery_codes.make(server.service, user, now)
    step = Update(USERS, user.id, set={"recovery_codes_at": now})
    await server.store.commit(*made.writes, step)
    return made.codes


async def set_rules(server, **rules):
    """Sets the installation's login policy."""
    await set_policy(server, "login", LoginRules(**rules))


async def set_policy(server, kind, rules):
    """A policy of the installation."""
    now, id = server.clock.now(), policy_id(None, kind)
    policy = Policy(id=id, kind=kind, rules=rules, created_at=now, changed_at=now)
    await server.store.commit(Delete(POLICIES, id))
    await server.store.commit(Insert(POLICIES, policy))
    server.service.settings_cache.forget()

"""The browser: a record behind a cookie, made with the first sign-in that it begins.

The cookie is id ‖ secret; the store keeps the secret's hash, and the secret changes at every
sign-in, step-up and logout, so that a cookie from before is worth nothing afterwards.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import structs

from idp import base64url, credentials
from idp.credentials import Confidential
from idp.identity import known_browsers
from idp.ids import Random
from idp.records import AGENTS, Agent, User
from idp.service import Service
from idp.vault import Vault
from storage import Update

KEPT: Final = timedelta(days=400)  # browsers keep no cookie longer
KEPT_UNUSED: Final = timedelta(days=1)
REMEMBERED: Final = 10  # people in one browser


class Cookie(Confidential, frozen=True):
    """A new value for the browser's cookie, and the record state it belongs to."""

    value: str
    agent: Agent


def new(random: Random, now: datetime) -> Cookie:
    """An agent that is not stored yet. One that never signs in is forgotten after a day."""
    id, secret = random.id(), random.token()
    agent = Agent(
        id=id,
        secret_hash=credentials.digest(secret),
        created_at=now,
        expires_at=now + KEPT_UNUSED,
    )
    return Cookie(value=id + secret, agent=agent)


async def find(service: Service, cookie: str | None) -> Agent | None:
    """The agent whose current cookie this is."""
    parts = credentials.split(cookie) if cookie else None
    agent = await service.store.get(AGENTS, parts[0]) if parts else None
    if parts is None or agent is None or not credentials.matches(parts[1], agent.secret_hash):
        return None
    return agent


def rotation(
    random: Random, agent: Agent, now: datetime, user: User | None = None
) -> tuple[Update, Cookie]:
    """The write that gives the agent a new secret, and the cookie that goes with it; it remembers
    the user who signs in, and their account knows it.

    Of two units that rotate at once, one succeeds.
    """
    secret = random.token()
    changed: dict[str, Any] = {
        "secret_hash": credentials.digest(secret),
        "expires_at": now + KEPT,
        "browser": agent.browser,
        "system": agent.system,
    }
    if user is not None:
        others = [one for one in agent.remembered if one != user.id]
        changed["remembered"] = [user.id, *others][:REMEMBERED]
        changed["known"] = known_browsers.with_user(agent, user)
    write = Update(AGENTS, agent.id, set=changed, expect={"secret_hash": agent.secret_hash})
    return write, Cookie(value=agent.id + secret, agent=structs.replace(agent, **changed))


def forgetting(random: Random, agent: Agent, now: datetime, user_id: str) -> tuple[Update, Cookie]:
    """The same, and the user is remembered no more, nor known."""
    others: dict[str, Any] = {
        "remembered": [one for one in agent.remembered if one != user_id],
        "known": known_browsers.without_user(agent, user_id),
    }
    write, cookie = rotation(random, agent, now)
    changed = structs.replace(write, set={**write.set, **others})
    return changed, Cookie(value=cookie.value, agent=structs.replace(cookie.agent, **others))


def form_token(vault: Vault, agent: Agent, subject_id: str) -> str:
    """Proves that a form was made for this browser and this sign-in or logout.

    It doesn't depend on the cookie's secret, so that a second tab's form still counts after the
    first tab has signed in.
    """
    return base64url.encode(vault.mac("form", f"{agent.id}\n{subject_id}"))


def is_form_token(vault: Vault, agent: Agent, subject_id: str, token: str) -> bool:
    return credentials.same(form_token(vault, agent, subject_id), token)

"""Browsers that an account knows: those in which its user has signed in (OWASP, device cookies).

Guesses from elsewhere don't keep the owner out there. A new password, "sign out everywhere", a
lock, and removing oneself from the list of accounts end it.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from idp.records import AGENTS, USERS, Agent, KnownUser, User
from idp.service import Service
from storage import Update, Write

MOST: Final = 10  # accounts that know one browser


def is_known(agent: Agent | None, user: User) -> bool:
    """Whether the account knows this browser, whose cookie was right."""
    return agent is not None and entry(user) in agent.known


def entry(user: User) -> KnownUser:
    """What a browser keeps of the user while the account knows it."""
    return KnownUser(user_id=user.id, stamp=f"{user.stamp}{user.browsers_stamp}")


def with_user(agent: Agent, user: User) -> list[KnownUser]:
    """The accounts that know this browser once the user has signed in, the last one first."""
    return [entry(user), *without_user(agent, user.id)][:MOST]


def without_user(agent: Agent, user_id: str) -> list[KnownUser]:
    """The accounts that know this browser, but for one."""
    return [one for one in agent.known if one.user_id != user_id]


def forgetting_others(service: Service, user: User, agent: Agent) -> list[Write]:
    """The writes by which the account knows no browser but this one."""
    stamp = service.random.token(bits=64)
    known = with_user(agent, structs.replace(user, browsers_stamp=stamp))
    return [
        Update(USERS, user.id, set={"browsers_stamp": stamp}, expect={"stamp": user.stamp}),
        Update(AGENTS, agent.id, set={"known": known}, expect={"secret_hash": agent.secret_hash}),
    ]

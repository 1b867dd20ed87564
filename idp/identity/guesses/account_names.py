"""The names under which attempts are counted: MACs, from which no login name can be read."""

from __future__ import annotations

from idp.foundation import domain_names
from idp.foundation.texts import typed_texts
from idp.identity.users.lookup import login_key
from idp.records import User
from idp.service import Service


def login_name(service: Service, typed: str) -> str:
    """Returns the name for which the rate of attempts at the password of the login name `typed` is
    limited, whether or not a user has it.

    Each login name of a user has its own rate: a shared one would tell which names exist.
    """
    # Like the look-up by name and domain, so that no spelling that finds a user has its own rate.
    name, at, domain = typed_texts.name(typed).rpartition("@")
    key = login_key(name) + at + (domain_names.key(domain) if at else login_key(domain))
    return _hidden(service, f"name:{key}")


def account(service: Service, user: User | None, typed: str) -> str:
    """Returns one name for the user, whichever login name was typed; without a user (None) the one
    of the login name `typed`."""
    return _hidden(service, f"user:{user.id}") if user else login_name(service, typed)


def _hidden(service: Service, name: str) -> str:
    return service.master_key.mac("throttle", name).hex()[:32]

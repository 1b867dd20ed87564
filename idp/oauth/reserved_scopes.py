"""The reserved scopes, `urn:<vendor>:iam:…`, which exist in addition to those of OpenID
Connect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeAlias

from idp.config.settings import Config
from idp.foundation import domain_names
from idp.records import Organization

_MAX_VALUE = 200
_VALUE = "{}"


class Reserved(StrEnum):
    """The kinds of reserved scopes: the text after `urn:<vendor>:iam:`, with `{}` for its variable
    part."""

    ROLE = "org:project:role:{}"  # one role
    ROLES = "org:projects:roles"  # the roles of every project in the audience
    ROLES_OF = "org:roles:id:{}"  # of the roles, only those that this organization assigned
    ORGANIZATION = "org:id:{}"  # only users of this organization may sign in
    DOMAIN = "org:domain:primary:{}"  # the same, by its domain
    AUDIENCE = "org:project:id:{}:aud"  # this project in the audience
    METADATA = "user:metadata"
    RESOURCE_OWNER = "user:resourceowner"


ReservedScopes: TypeAlias = Mapping[Reserved, list[str]]


def read(config: Config, scopes: Iterable[str]) -> ReservedScopes:
    """Returns the reserved scopes (`urn:<vendor>:iam:…`) among `scopes`, by kind.

    Each kind that occurs has the list of the variable parts of its scopes, such as the ids in
    `…:org:id:<id>`; for a kind without a variable part this is one "" for each scope. Other scopes
    are left out.
    """
    reserved: dict[Reserved, list[str]] = {}
    for scope in scopes:
        pair = _read(config, scope)
        if pair is not None:
            reserved.setdefault(pair[0], []).append(pair[1])
    return reserved


def is_reserved(config: Config, scope: str) -> bool:
    """Returns whether the scope has the form of a reserved scope."""
    return _read(config, scope) is not None


def _read(config: Config, scope: str) -> tuple[Reserved, str] | None:
    prefix = claim(config, "")
    if not scope.startswith(prefix):
        return None
    suffix = scope.removeprefix(prefix)
    for kind in Reserved:
        before, variable, after = kind.partition(_VALUE)
        value = suffix[len(before) : len(suffix) - len(after)]
        # A value may become the id of a record to read, so its length is bounded.
        is_value_valid = 0 < len(value) <= _MAX_VALUE if variable else not value
        if is_value_valid and suffix == before + value + after:
            return kind, value
    return None


def claim(config: Config, name: str) -> str:
    """Returns the full name of a reserved claim or scope, `urn:<vendor>:iam:` and `name`."""
    return f"urn:{config.vendor}:iam:{name}"


def scope(config: Config, kind: Reserved, value: str = "") -> str:
    """Returns the full scope of this kind, with `value` as its variable part if the kind has
    one."""
    return claim(config, kind.replace(_VALUE, value))


def service_audience(config: Config) -> str:
    """Returns the scope that requests tokens for the service's own API."""
    return scope(config, Reserved.AUDIENCE, config.vendor)


def audience(config: Config, scope: str) -> str | None:
    """Returns the member of `aud` that an audience scope requests: a project's id, or the issuer.

    None for any other scope.
    """
    pair = _read(config, scope)
    if pair is None or pair[0] is not Reserved.AUDIENCE:
        return None
    return config.issuer if pair[1] == config.vendor else pair[1]


def admit(config: Config, scopes: Iterable[str], organization: Organization) -> bool:
    """Returns whether every organization that the scopes name, by id or domain, is `organization`.

    True also if they name none.
    """
    reserved = read(config, scopes)
    domain_keys = {domain_names.key(domain) for domain in reserved.get(Reserved.DOMAIN, [])}
    ids = set(reserved.get(Reserved.ORGANIZATION, []))
    return ids <= {organization.id} and domain_keys <= {organization.primary_domain}

"""For each call of the management API: bodies with every field, and the records that the call
changes.

`BODIES` has a row for each call whose body has members; in their texts `{n}` stands for what has
to be new each time. `MADE` has a function for each call that needs more than what is there.
Both are by `METHOD /path/{parameter}`, and lie in a module for each of `idp/api/`.
"""

from __future__ import annotations

from tests.support.samples import (
    applications,
    connections,
    events,
    groups,
    imports,
    instance,
    organizations,
    people,
    policies,
    projects,
    service_users,
    usage,
    users,
)

_ALL = (
    applications,
    connections,
    events,
    groups,
    imports,
    instance,
    organizations,
    people,
    policies,
    projects,
    service_users,
    usage,
    users,
)
BODIES = {name: bodies for module in _ALL for name, bodies in module.BODIES.items()}
MADE = {name: make for module in _ALL for name, make in module.MADE.items()}

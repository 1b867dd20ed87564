"""The kinds of rows, in the order in which they are stored: what others refer to comes first.

To add a kind: a module here that ends in its `KINDS`, and a line in `KINDS`.
"""

from __future__ import annotations

from typing import Final

from idp.transfer.kinds import (
    domains,
    factors,
    humans,
    organizations,
    pictures,
    policies,
    texts,
    unsupported,
)
from idp.transfer.kinds.kind import Kind

KINDS: Final[tuple[Kind, ...]] = (
    *organizations.KINDS,
    *domains.KINDS,
    *policies.KINDS,
    *factors.KINDS,
    *pictures.KINDS,
    *texts.KINDS,
    *humans.KINDS,
    *unsupported.KINDS,
)
BY_MEMBER: Final = {kind.member: kind for kind in KINDS}

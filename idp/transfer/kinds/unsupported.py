"""Kinds of rows in packages of the reference system (the other one whose packages this service
imports) that this service cannot store.

Every such row is named in the report, so that its absence is explained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from idp.transfer.kinds.kind import RowKind
from idp.transfer.package.rows import value_of


def _named_by(*names: str) -> Callable[[Mapping[str, Any]], str]:
    """Returns a function that names a row by its members, joined as composite ids are."""

    def name(document: Mapping[str, Any]) -> str:
        ids = (value_of(document, name) for name in names)
        return "_".join(str(each) for each in ids if each)

    return name


_IDP: Final = "connections are rows of `connections`, and must be entered again"
_ACTION: Final = "this service doesn't run actions"
_GRANT: Final = "a project grant has no managers: the managers of its organization manage it"

KINDS: Final = (
    RowKind(member="oidcIdps", type="oidc_idp", name=_named_by("idpId"), unsupported=_IDP),
    RowKind(member="jwtIdps", type="jwt_idp", name=_named_by("idpId"), unsupported=_IDP),
    RowKind(member="idps", type="idp", name=_named_by("idpId", "ownerType"), unsupported=_IDP),
    RowKind(member="actions", type="action", name=_named_by("actionId"), unsupported=_ACTION),
    RowKind(
        member="triggerActions",
        type="trigger_action",
        name=_named_by("flowType", "triggerType"),
        unsupported=_ACTION,
    ),
    RowKind(
        member="projectGrantMembers",
        type="project_grant_member",
        name=_named_by("projectId", "grantId", "userId"),
        unsupported=_GRANT,
    ),
)

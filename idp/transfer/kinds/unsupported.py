"""What packages of the reference system hold, and this service has nothing of.

Every row is named in the report, so that nobody looks for it in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from idp.transfer.kinds.kind import RowKind
from idp.transfer.package.rows import value_of


def _by(*names: str) -> Callable[[Mapping[str, Any]], str]:
    """The name of a row by members of it, joined as composite ids are."""

    def name(document: Mapping[str, Any]) -> str:
        found = (value_of(document, name) for name in names)
        return "_".join(str(each) for each in found if each)

    return name


_IDP: Final = "people sign in by other identity providers nowhere yet"
_ACTION: Final = "nothing of this service runs code of others"
_GRANT: Final = "a project grant has no managers of its own: those of its organization are"

KINDS: Final = (
    RowKind(member="oidcIdps", type="oidc_idp", name=_by("idpId"), unsupported=_IDP),
    RowKind(member="jwtIdps", type="jwt_idp", name=_by("idpId"), unsupported=_IDP),
    RowKind(member="idps", type="idp", name=_by("idpId", "ownerType"), unsupported=_IDP),
    RowKind(member="actions", type="action", name=_by("actionId"), unsupported=_ACTION),
    RowKind(
        member="triggerActions",
        type="trigger_action",
        name=_by("flowType", "triggerType"),
        unsupported=_ACTION,
    ),
    RowKind(
        member="projectGrantMembers",
        type="project_grant_member",
        name=_by("projectId", "grantId", "userId"),
        unsupported=_GRANT,
    ),
)

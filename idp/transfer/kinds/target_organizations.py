"""The organizations that rows of a package belong to; a row of an unknown one is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from idp.records import ORGANIZATIONS, Organization
from idp.transfer.kinds.kind import ImportContext
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused

_NO_ORGANIZATION: Final = RowProblem(
    error_code="organization.not_found",
    field="orgId",
    message="is not an organization of this installation or of the package",
    fix=(
        "Make it first, or put `org` with a name beside its orgId in the package. If the package"
        " has it, correct its own row."
    ),
)


async def by_id(
    context: ImportContext, parsed_rows: Iterable[ParsedRow]
) -> Mapping[str, Organization]:
    """Returns the organizations of these rows that exist, by their ids, in one round trip."""
    ids = list(dict.fromkeys(parsed.row.org_id for parsed in parsed_rows))
    records = await context.service.store.get_many([(ORGANIZATIONS, org_id) for org_id in ids])
    return {each.id: each for each in records if each is not None}


def organization_not_found(row_id: str) -> RowPlan:
    """Returns the plan that refuses a row because its organization does not exist. `row_id` names
    the row in reports."""
    return refused(row_id, _NO_ORGANIZATION)

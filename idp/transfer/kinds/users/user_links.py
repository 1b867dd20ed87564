"""The kind of rows `userLinks`: identities of persons at other identity providers, where a package
has a list of them.

An export writes them with each person (`idps`), so this list is only imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar, Final

from msgspec import structs

from idp.foundation.errors import FieldProblem
from idp.records import USERS, IdpLink, User
from idp.schema.field_rules import Name, Text
from idp.schema.reading import MAX_ITEMS, Request
from idp.transfer.kinds import upsert
from idp.transfer.kinds.kind import ImportContext, RowKind
from idp.transfer.kinds.packaged_ids import named
from idp.transfer.kinds.upsert import UpsertPlan
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused


class LinkRow(Request, frozen=True, kw_only=True):
    """A row that links a user to an identity at another provider.

    `provided_…` are the names that the reference system's packages have for these members
    (`idp/transfer/kinds/policies.py`). The name and the type of the provider are not stored.
    """

    one_of: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("external_user_id", "provided_user_id"),
        ("display_name", "provided_user_name"),
    )

    user_id: Name
    idp_id: Name
    external_user_id: Annotated[str, Text()] = ""
    provided_user_id: Annotated[str, Text()] = ""
    display_name: Annotated[str, Text()] = ""
    provided_user_name: Annotated[str, Text()] = ""
    idp_name: Annotated[str, Text()] = ""
    idp_type: Annotated[str, Text()] = ""

    def check(self) -> Iterator[FieldProblem]:
        if self.external_user_id == "" and self.provided_user_id == "":
            yield FieldProblem("field.required", "externalUserId", "is required")

    def link(self) -> IdpLink:
        """Returns the link in the form in which a user's record holds it."""
        user_id = self.external_user_id or self.provided_user_id
        name = self.display_name or self.provided_user_name
        return IdpLink(idp_id=self.idp_id, user_id=user_id, user_name=name or user_id)


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of links between persons and identities at other providers (`RowKind.plan`): new
    links are added; existing ones are skipped or, if the import updates records, renamed.
    """
    rows = [_row(parsed) for parsed in parsed_rows]
    stored = await upsert.by_id(context, USERS, (row.user_id for row in rows))
    return [
        _plan_row(context, parsed, row, stored.get(row.user_id))
        for parsed, row in zip(parsed_rows, rows, strict=True)
    ]


def _row(parsed: ParsedRow) -> LinkRow:
    assert isinstance(parsed.request, LinkRow)  # noqa: S101 - for mypy
    return parsed.request


def _plan_row(
    context: ImportContext, parsed: ParsedRow, row: LinkRow, user: User | None
) -> RowPlan:
    link = row.link()
    row_id = f"{row.user_id}_{link.user_id}"
    if user is None or user.org_id != parsed.row.org_id or user.kind != "human":
        return refused(row_id, upsert.user_not_found("userId"))
    other_links = [each for each in user.idp_links if not _is_same(each, link)]
    existing = [each for each in user.idp_links if _is_same(each, link)]
    if existing and (existing == [link] or not context.updates):
        return RowPlan(action="skip", id=row_id)
    if len(other_links) >= MAX_ITEMS:
        return refused(row_id, _TOO_MANY)
    plan = UpsertPlan(id=row_id, collection=USERS, record=user, type="user")
    row_plan = upsert.plan_update(context, parsed, user, plan, {"idp_links": [*other_links, link]})
    # A link is no record of its own: the user's origin says nothing about it.
    return structs.replace(row_plan, action="update" if existing else "create", existing=None)


def _is_same(link: IdpLink, other_link: IdpLink) -> bool:
    return (link.idp_id, link.user_id) == (other_link.idp_id, other_link.user_id)


_TOO_MANY: Final = RowProblem(
    error_code="field.too_many",
    field="userId",
    message=f"already has {MAX_ITEMS} links",
    fix="Leave out links that aren't used.",
)
KINDS: Final = (
    RowKind(
        member="userLinks",
        type="user_link",
        request=LinkRow,
        name=named("userId", "externalUserId"),
        plan=plan_rows,
    ),
)

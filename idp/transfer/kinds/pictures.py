"""The kind of rows `pictures`, which only this service has: the logo and icon of an
organization.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Annotated, Any, Final, cast

from idp.policies import images, pictures
from idp.policies.images import UnusableImage
from idp.policies.pictures import MAX_BASE64, PICTURE_LIMITS
from idp.records import PICTURES, Organization
from idp.records.pictures import PictureKind
from idp.schema.field_rules import Base64, OneOf
from idp.schema.reading import Request
from idp.transfer.kinds import settings
from idp.transfer.kinds.kind import ExportContext, ImportContext, RowKind
from idp.transfer.kinds.settings import SettingRow
from idp.transfer.package.rows import ParsedRow, RowPlan, RowProblem, refused

_FIELDS: Final = ("type", "width", "height", "content", "digest")


class PackagedPicture(Request, frozen=True, kw_only=True):
    """A picture of an organization.

    `content` is a PNG, JPEG or WebP file of at most 512 kB, in base64.
    """

    place: Annotated[str, OneOf(tuple(PICTURE_LIMITS))]
    content: Annotated[bytes, Base64(MAX_BASE64)]


async def plan_rows(context: ImportContext, parsed_rows: Sequence[ParsedRow]) -> list[RowPlan]:
    """Plans rows of pictures (`RowKind.plan`). Each picture is re-encoded from its pixels, as an
    uploaded one is."""
    rows = {parsed.row.number: await _setting_row(context, parsed) for parsed in parsed_rows}
    readable_rows = [
        parsed for parsed in parsed_rows if isinstance(rows[parsed.row.number], SettingRow)
    ]
    setting_plans = await settings.plan_settings(
        context,
        readable_rows,
        [cast(SettingRow, rows[parsed.row.number]) for parsed in readable_rows],
    )
    plans = {
        parsed.row.number: plan for parsed, plan in zip(readable_rows, setting_plans, strict=True)
    }
    return [
        plans.get(parsed.row.number) or cast(RowPlan, rows[parsed.row.number])
        for parsed in parsed_rows
    ]


async def _setting_row(context: ImportContext, parsed: ParsedRow) -> SettingRow | RowPlan:
    request, org_id = cast(PackagedPicture, parsed.request), parsed.row.org_id
    place, row_id = cast(PictureKind, request.place), f"{org_id}_{request.place}"
    try:
        # Decoding takes long enough to block the event loop.
        image = await asyncio.to_thread(
            images.reencoded_if_needed, request.content, PICTURE_LIMITS[place]
        )
    except UnusableImage as error:
        problem = RowProblem(error_code=error.error_code, field="content", message=error.message)
        return refused(row_id, problem)
    return SettingRow(
        id=row_id,
        event="picture",
        collection=PICTURES,
        record=pictures.new(org_id, place, image, context.service.clock.now()),
        sets=_FIELDS,
    )


async def export(
    context: ExportContext, organization: Organization
) -> AsyncIterator[dict[str, Any]]:
    """Yields a row for each picture of the organization, with the file that pages display."""
    for place in PICTURE_LIMITS:
        picture = await context.view.get(PICTURES, pictures.picture_id(organization.id, place))
        if picture is not None:
            yield {"place": place, "content": picture.content}


def _name(document: Mapping[str, Any]) -> str:
    return str(document.get("place") or "")


KINDS: Final = (
    RowKind(
        member="pictures",
        type="picture",
        request=PackagedPicture,
        name=_name,
        plan=plan_rows,
        export=export,
    ),
)

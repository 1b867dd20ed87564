"""Calls on the pictures of the label policy: logos, icons and backgrounds of the pages.

The argument `picture` of these functions is the kind of the picture, such as `logo` or `icon_dark`
(`idp.policies.pictures.PICTURE_LIMITS`).
"""

from __future__ import annotations

import asyncio
from typing import Annotated, cast

from idp import changes
from idp.changes import Change
from idp.foundation.errors import FieldProblem, InvalidArgument, NotFound, PreconditionFailed
from idp.identity.users import organizations
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.policies import policies
from idp.policies import effective, images, logo_plates, pictures
from idp.policies.images import EncodedPicture
from idp.policies.pictures import PICTURE_LIMITS
from idp.records import PICTURES, Organization, Picture
from idp.records.pictures import PictureKind
from idp.schema.answers import Answer, Changed, Details
from idp.schema.field_rules import Base64
from idp.schema.reading import Request
from idp.service import Service


class PictureForm(Request, frozen=True, kw_only=True):
    """A PNG, JPEG or WebP file of at most 512 kB, in base64. It is re-encoded: only its pixels are
    stored.
    """

    content: Annotated[bytes, Base64(pictures.MAX_BASE64)]


class PictureView(Answer, frozen=True, kw_only=True):
    """`plateOn`: the colour schemes, `light` or `dark`, on whose pages a logo is displayed on a
    plate, because it would be hard to see."""

    details: Details
    url: str
    content_type: str
    width: int
    height: int
    plate_on: list[str] = []


class PictureFound(Answer, frozen=True, kw_only=True):
    """`isDefault` is true if the picture is not the organization's own. Without a `picture` there
    is none.
    """

    details: Details
    picture: PictureView | None = None
    is_default: bool = False


async def show_default(service: Service, call: Call, picture: str) -> PictureFound:
    """Returns the installation's picture of a kind.

    Raises NotFound if there is no such kind.
    """
    _, stored = await pictures.find(service, None, _kind(picture))
    return await _answer(service, None, stored, is_default=stored is None)


async def show(service: Service, call: Call, picture: str) -> PictureFound:
    """Returns the picture of a kind that the pages of the call's organization display: its own or
    the installation's.

    Raises PermissionDenied, NotFound.
    """
    kind = _kind(picture)
    organization = await management_call.organization(service, call)
    own, default = await pictures.find(service, organization.id, kind)
    return await _answer(service, organization.id, own or default, is_default=own is None)


async def put_default(
    service: Service, call: Call, picture: str, request: PictureForm
) -> Change[Changed]:
    """Sets the installation's picture of a kind.

    Raises InvalidArgument, NotFound, PreconditionFailed, Busy.
    """
    kind = _kind(picture)
    image = await _reencoded(request, kind)
    return await _put(service, call, None, kind, image)


async def put(service: Service, call: Call, picture: str, request: PictureForm) -> Change[Changed]:
    """Sets the picture of a kind for the call's organization.

    Raises InvalidArgument, PermissionDenied, NotFound, PreconditionFailed, Busy.
    """
    kind = _kind(picture)
    image = await _reencoded(request, kind)
    organization = await management_call.organization(service, call)
    return await _put(service, call, organization, kind, image)


async def remove_default(service: Service, call: Call, picture: str) -> Change[Changed]:
    """Removes the installation's picture of a kind. Raises NotFound."""
    return await _remove(service, call, None, _kind(picture))


async def remove(service: Service, call: Call, picture: str) -> Change[Changed]:
    """Removes the picture of a kind that the call's organization has set. Raises PermissionDenied,
    NotFound (it has none)."""
    kind = _kind(picture)
    organization = await management_call.organization(service, call)
    return await _remove(service, call, organization.id, kind)


def _kind(picture: str) -> PictureKind:
    if picture not in PICTURE_LIMITS:
        message = f"there is no such picture; the pictures are: {', '.join(PICTURE_LIMITS)}"
        raise NotFound(message, error_code="picture.not_found")
    return cast(PictureKind, picture)


async def _reencoded(request: PictureForm, kind: PictureKind) -> EncodedPicture:
    try:  # in a thread: decoding and scaling a large picture would block the event loop
        return await asyncio.to_thread(images.reencoded, request.content, PICTURE_LIMITS[kind])
    except images.UnusableImage as error:
        raise InvalidArgument(
            [FieldProblem(error.error_code, "content", error.message)]
        ) from error


async def _put(
    service: Service,
    call: Call,
    organization: Organization | None,
    kind: PictureKind,
    image: EncodedPicture,
) -> Change[Changed]:
    """Adds the picture or replaces the one that is stored, in one unit with its event."""
    org_id = organization.id if organization else None

    async def plan() -> Change[Changed]:
        stored = await service.store.get(PICTURES, pictures.picture_id(org_id, kind))
        if stored is None:
            if call.if_match:
                raise PreconditionFailed("it is not set")
            picture = pictures.new(org_id, kind, image, service.clock.now())
            writes = changes.created(service, call, PICTURES, picture, "picture.created")
            guards = [organizations.state_unchanged(organization)] if organization else []
        else:
            update = changes.updated(
                service, call, PICTURES, stored, pictures.values(image), "picture.changed"
            )
            picture, writes, guards = update.record, list(update.writes), []
        return Change(
            Changed(details=await policies.details_of(service, picture)),
            [*writes, *guards],
            [service.settings_cache.forget],
            replan=plan,
        )

    return await plan()


async def _remove(
    service: Service, call: Call, org_id: str | None, kind: PictureKind
) -> Change[Changed]:
    picture = await _find_own(service, org_id, kind)
    owner = org_id or (await policies.details_of(service, None)).resource_owner
    return changes.removed(service, call, PICTURES, picture, "picture.deleted", owner).change(
        afterwards=[service.settings_cache.forget]
    )


async def _plate_on(service: Service, org_id: str | None, picture: Picture) -> list[str]:
    """Returns the colour schemes in which the picture is displayed on a plate."""
    if picture.place not in ("logo", "logo_dark"):
        return []
    label = await effective.label(service, org_id)
    return sorted(await logo_plates.of_logo(service, picture, label))


async def _find_own(service: Service, org_id: str | None, kind: PictureKind) -> Picture:
    picture = await service.store.get(PICTURES, pictures.picture_id(org_id, kind))
    if picture is None:
        raise NotFound("the organization has no custom picture", error_code="picture.not_found")
    return picture


async def _answer(
    service: Service, org_id: str | None, picture: Picture | None, *, is_default: bool
) -> PictureFound:
    details = await policies.details_of(service, picture)
    view = None
    if picture is not None:
        view = PictureView(
            details=details,
            url=service.config.issuer + pictures.url(picture),
            content_type=picture.type,
            width=picture.width,
            height=picture.height,
            plate_on=await _plate_on(service, org_id, picture),
        )
    return PictureFound(details=details, picture=view, is_default=is_default)

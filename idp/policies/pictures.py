"""Logos, icons and backgrounds: the size of each, its address, and how pages refer to it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.policies import effective, images
from idp.policies.images import EncodedPicture, PictureLimits
from idp.records import PICTURES, Picture
from idp.records.pictures import PictureKind, Plate, Scheme
from idp.service import Service

# The size each is stored in: twice the displayed one, for screens with a high pixel density.
PICTURE_LIMITS: Final[Mapping[PictureKind, PictureLimits]] = {
    "logo": PictureLimits(400, 120),
    "logo_dark": PictureLimits(400, 120),
    "icon": PictureLimits(128, 128),
    "icon_dark": PictureLimits(128, 128),
    "background": PictureLimits(1600, 1600, photo_bytes=200_000),
}
# Slightly above the limit of a picture, so that a file just too large is refused as a picture.
MAX_BASE64: Final = images.MAX_BYTES * 4 // 3 + 8
_EXTENSIONS: Final = {"image/png": "png", "image/jpeg": "jpg"}


class PictureReference(Struct, frozen=True):
    """A picture as pages refer to it: its address and its size."""

    url: str
    type: str
    width: int
    height: int


class PictureLink(Struct, frozen=True):
    """A logo or an icon (`light`), and its variant for dark pages; without one (None), `light` is
    displayed on these, too.

    `is_own` means that it is the organization's, not the installation's. `plates` are those behind
    a logo, by the colour scheme of the page.
    """

    light: PictureReference
    dark: PictureReference | None
    is_own: bool
    plates: Mapping[Scheme, Plate] = {}


async def find(
    service: Service, org_id: str | None, kind: PictureKind
) -> tuple[Picture | None, Picture | None]:
    """Returns the organization's own picture and the installation's, in one round trip."""
    ids = [picture_id(org_id, kind), picture_id(None, kind)]
    own, default = await service.store.get_many([(PICTURES, picture_id) for picture_id in ids])
    return own if org_id else None, default


def picture_id(org_id: str | None, kind: PictureKind) -> str:
    return effective.policy_id(org_id, "picture", kind)


def url(picture: Picture) -> str:
    """Returns the path that a picture is served at, which changes with its content."""
    return f"/ui/brand/{picture.id}/{picture.digest}.{_EXTENSIONS[picture.type]}"


def displayed(pictures: Sequence[Picture | None]) -> list[Picture]:
    """Returns the picture that pages display, and the one for dark pages if there is another; none
    if there is none.

    `pictures` are four, each None if it is not stored: the organization's for light pages, the
    installation's for light pages, then the same two for dark pages. The installation's are used
    only if the organization has neither.
    """
    light, light_default, dark, dark_default = pictures
    own = [picture for picture in (light, dark) if picture is not None]
    return own or [picture for picture in (light_default, dark_default) if picture is not None]


def picture_link(
    pictures: Sequence[Picture], plates: Mapping[Scheme, Plate] | None = None
) -> PictureLink | None:
    """Returns the picture that pages display, from what `displayed` returns, or None."""
    if not pictures:
        return None
    light, *dark_references = map(reference, pictures)
    is_own = pictures[0].org_id is not None
    return PictureLink(
        light, dark_references[0] if dark_references else None, is_own, plates or {}
    )


def reference(picture: Picture) -> PictureReference:
    return PictureReference(url(picture), picture.type, picture.width, picture.height)


def new(org_id: str | None, kind: PictureKind, image: EncodedPicture, now: datetime) -> Picture:
    """Returns the record of an encoded picture, which is not stored yet."""
    return Picture(
        id=picture_id(org_id, kind),
        org_id=org_id,
        place=kind,
        created_at=now,
        changed_at=now,
        **values(image),
    )


def values(image: EncodedPicture) -> dict[str, Any]:
    return {
        **structs.asdict(image),
        "content": base64.b64encode(image.content).decode(),
        "digest": hashlib.sha256(image.content).hexdigest()[:16],
    }

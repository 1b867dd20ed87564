"""Logos and icons: the size each is stored in, its address, and how pages refer to it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.policies import effective, images
from idp.policies.images import Box, EncodedPicture
from idp.records import PICTURES, Picture
from idp.records.pictures import PictureKind
from idp.service import Service

# The size each is stored in: twice the displayed one, for screens with a high pixel density.
BOXES: Final[Mapping[PictureKind, Box]] = {
    "logo": Box(400, 120),
    "logo_dark": Box(400, 120),
    "icon": Box(128, 128),
    "icon_dark": Box(128, 128),
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

    `is_own` means that it is the organization's, not the installation's.
    """

    light: PictureReference
    dark: PictureReference | None
    is_own: bool


async def find(
    service: Service, org_id: str | None, place: PictureKind
) -> tuple[Picture | None, Picture | None]:
    """Returns the organization's own picture and the installation's, in one round trip."""
    ids = [picture_id(org_id, place), picture_id(None, place)]
    own, default = await service.store.get_many([(PICTURES, id) for id in ids])
    return own if org_id else None, default


def picture_id(org_id: str | None, place: PictureKind) -> str:
    return effective.policy_id(org_id, "picture", place)


def url(picture: Picture) -> str:
    """Returns the path that a picture is served at, which changes with its content."""
    return f"/ui/brand/{picture.id}/{picture.digest}.{_EXTENSIONS[picture.type]}"


def picture_link(pictures: Sequence[Picture | None]) -> PictureLink | None:
    """Returns the picture that pages display; None if there is none.

    `pictures` are four, each None if it is not stored: the organization's for light pages, the
    installation's for light pages, then the same two for dark pages. The installation's are used
    only if the organization has neither.
    """
    light, light_default, dark, dark_default = pictures
    for pair in ((light, dark), (light_default, dark_default)):
        references = [_reference(picture) for picture in pair if picture is not None]
        if references:
            other = references[1] if len(references) > 1 else None
            return PictureLink(references[0], other, is_own=pair == (light, dark))
    return None


def _reference(picture: Picture) -> PictureReference:
    return PictureReference(url(picture), picture.type, picture.width, picture.height)


def new(org_id: str | None, place: PictureKind, image: EncodedPicture, now: datetime) -> Picture:
    """Returns the record of an encoded picture, which is not stored yet."""
    return Picture(
        id=picture_id(org_id, place),
        org_id=org_id,
        place=place,
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

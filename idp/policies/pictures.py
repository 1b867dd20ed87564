"""Logos and icons: how large each is kept, where it is found, and how pages name it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from idp.policies import effective, images
from idp.policies.images import Box, Drawn
from idp.records import PICTURES, Picture
from idp.records.pictures import Place
from idp.service import Service

# How large each is kept: twice what it is shown at, for screens with fine pixels.
BOXES: Final[Mapping[Place, Box]] = {
    "logo": Box(400, 120),
    "logo_dark": Box(400, 120),
    "icon": Box(128, 128),
    "icon_dark": Box(128, 128),
}
MAX_BASE64: Final = images.MAX_BYTES * 4 // 3 + 8  # one more than fits is judged as a picture
_EXTENSIONS: Final = {"image/png": "png", "image/jpeg": "jpg"}


class Drawing(Struct, frozen=True):
    """A picture as pages name it: its address and how large it is."""

    url: str
    type: str
    width: int
    height: int


class PictureLink(Struct, frozen=True):
    """A logo or an icon, and the one for dark pages if that is another. `is_own`: it is the
    organization's, and not the installation's."""

    light: Drawing
    dark: Drawing | None
    is_own: bool


async def find(
    service: Service, org_id: str | None, place: Place
) -> tuple[Picture | None, Picture | None]:
    """The organization's own and the installation's, in one round trip."""
    ids = [picture_id(org_id, place), picture_id(None, place)]
    own, default = await service.store.get_many([(PICTURES, id) for id in ids])
    return own if org_id else None, default


def picture_id(org_id: str | None, place: Place) -> str:
    return effective.policy_id(org_id, "picture", place)


def url(picture: Picture) -> str:
    """Where it is served, as an address that changes with it."""
    return f"/ui/brand/{picture.id}/{picture.digest}.{_EXTENSIONS[picture.type]}"


def sign(found: Sequence[Picture | None]) -> PictureLink | None:
    """What is shown of four: the organization's own light one, the installation's, and the two
    dark ones alike. Whoever has one of the two has none of the installation's."""
    light, light_default, dark, dark_default = found
    for pair in ((light, dark), (light_default, dark_default)):
        shown = [_drawing(one) for one in pair if one is not None]
        if shown:
            other = shown[1] if len(shown) > 1 else None
            return PictureLink(shown[0], other, is_own=pair == (light, dark))
    return None


def _drawing(picture: Picture) -> Drawing:
    return Drawing(url(picture), picture.type, picture.width, picture.height)


def new(org_id: str | None, place: Place, image: Drawn, now: datetime) -> Picture:
    """A picture that isn't stored yet."""
    return Picture(
        id=picture_id(org_id, place),
        org_id=org_id,
        place=place,
        created_at=now,
        changed_at=now,
        **values(image),
    )


def values(image: Drawn) -> dict[str, Any]:
    return {
        **structs.asdict(image),
        "content": base64.b64encode(image.content).decode(),
        "digest": hashlib.sha256(image.content).hexdigest()[:16],
    }

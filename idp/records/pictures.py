"""Pictures on the pages: logo, icon and background of an organization, or of the installation."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from storage import Collection, Record

PictureKind = Literal["logo", "logo_dark", "icon", "icon_dark", "background"]
Plate = Literal["light", "dark"]
Scheme = Literal["light", "dark"]


class Picture(Record):
    """One picture of an organization, or (`org_id` None) of the installation.

    The id is the digest of its owner and `place`: so each owner has one picture for each place.
    `content` is base64 of a file that was re-encoded from the one that was sent.
    `plates` are those that a logo needs to be seen, by the colour scheme of the page; None if it
    was not examined yet. `plates_basis` names the content and the backgrounds that it was
    examined for.
    """

    place: PictureKind
    type: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    content: str
    digest: str
    created_at: datetime
    changed_at: datetime
    org_id: str | None = None
    plates: dict[Scheme, Plate] | None = None
    plates_basis: str = ""
    sequence: int = 1


PICTURES: Final = Collection("pictures", Picture, lists=(("org_id",),))

"""Pictures that somebody sends: judged by what they are, and drawn anew.

What is stored is never the file that came: only its pixels are taken over, so nothing travels with
them: no script, no place where a photograph was taken, nothing behind the end of the picture.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from idp.errors import IdpError

MAX_BYTES: Final = 512 * 1024
MAX_SIDE: Final = 2000  # pixels
_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_STARTS: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")
_DAMAGED: Final = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    struct.error,
    zlib.error,
    IndexError,
)


class Unusable(IdpError):
    """What was sent is no picture that can be shown; the message follows the field's name."""

    slug = "picture.invalid"


class Box(NamedTuple):
    """How large a picture may be; a larger one is made to fit."""

    width: int
    height: int


class Drawn(Struct, frozen=True):
    """A picture as it is stored and served."""

    type: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    content: bytes


def drawn(sent: bytes, box: Box) -> Drawn:
    """The picture, no larger than `box`. It takes a while: not for the event loop.

    Raises Unusable: too large, not of a kind that is taken, damaged, or more than one picture.
    """
    _check_kind(sent)
    from PIL import Image, ImageOps  # takes longer than the start of the program may

    try:
        with Image.open(io.BytesIO(sent), formats=_FORMATS) as image:
            _check_size(image)
            image.load()
            return _encoded(ImageOps.exif_transpose(image), box, is_photo=image.format == "JPEG")
    except _DAMAGED as error:
        raise Unusable("is damaged: it can't be drawn") from error


def _check_kind(sent: bytes) -> None:
    """By its beginning, whatever it was called."""
    if len(sent) > MAX_BYTES:
        told = f"has more than {MAX_BYTES // 1024} kilobytes"
        raise Unusable(told, slug="picture.too_large")
    if sent.startswith(_STARTS):
        return
    if b"<svg" in sent[:4096].lower():
        told = "is SVG, which can hold scripts: send it as PNG"
        raise Unusable(told, slug="picture.svg")
    raise Unusable("is not a PNG, JPEG or WebP picture", slug="picture.kind")


def _check_size(image: Any) -> None:
    """By its head, before anything is unpacked."""
    if max(image.size) > MAX_SIDE:
        told = f"is wider or higher than {MAX_SIDE} pixels"
        raise Unusable(told, slug="picture.too_large")
    if getattr(image, "n_frames", 1) > 1:
        raise Unusable("moves: send a single picture", slug="picture.animated")


def _encoded(image: Any, box: Box, *, is_photo: bool) -> Drawn:
    image = image.convert("RGB" if is_photo else "RGBA")
    image.thumbnail(box)
    image.info = {}  # the encoder would write some of it
    target = io.BytesIO()
    if is_photo:
        image.save(target, "JPEG", quality=88, optimize=True)
    else:
        image.save(target, "PNG", optimize=True)
    type: Literal["image/png", "image/jpeg"] = "image/jpeg" if is_photo else "image/png"
    return Drawn(type, image.width, image.height, target.getvalue())

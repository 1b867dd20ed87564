"""Pictures that somebody sends: judged by what they are, and drawn anew.

What is stored is never the file that came: only its pixels are taken over, so nothing travels with
them: no script, no place where a photograph was taken, nothing behind the end of the picture.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct

from idp.foundation.errors import IdpError

MAX_BYTES: Final = 512 * 1024
MAX_SIDE: Final = 2000  # pixels
MAX_PIXELS: Final = 40_000_000
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


class UnusableImage(IdpError):
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

    Raises UnusableImage: too large, not of a kind that is taken, damaged, or more than one
    picture.
    """
    _check_kind(sent)
    from PIL import Image, ImageOps  # takes longer than the start of the program may

    Image.MAX_IMAGE_PIXELS = None  # `_check_size` has a lower bound, and a refusal of its own
    try:
        with Image.open(io.BytesIO(sent), formats=_FORMATS) as image:
            _check_size(image)
            image.load()
            return _encoded(ImageOps.exif_transpose(image), box, is_photo=image.format == "JPEG")
    except _DAMAGED as error:
        raise UnusableImage("is damaged: it can't be drawn") from error


def taken_over(sent: bytes, box: Box) -> Drawn:
    """A picture that `drawn` has made already, as it is: each drawing of a photograph would blur
    it a little more. Of anything else, what `drawn` makes of it. Raises UnusableImage.
    """
    made = drawn(sent, box)
    if made.type == "image/jpeg" and _is_bare(sent) and _size(sent) == (made.width, made.height):
        return Drawn(made.type, made.width, made.height, sent)
    return made


def _is_bare(photo: bytes) -> bool:
    """Whether a JPEG file holds what is needed to draw it, and nothing else (ITU T.81, B.1)."""
    at = 2
    while photo[at : at + 1] == b"\xff":
        marker, length = photo[at + 1], int.from_bytes(photo[at + 2 : at + 4], "big")
        if marker not in _DRAWING or (marker == _JFIF and length != _JFIF_BYTES):
            return False
        at += 2 + length
        if marker == _SCAN:
            return _SCANNED.fullmatch(photo, at) is not None
    return False


_JFIF: Final = 0xE0
_JFIF_BYTES: Final = 16  # without a preview
_SCAN: Final = 0xDA
# Tables, the frame, the scan.
_DRAWING: Final = frozenset({_JFIF, 0xDB, 0xC0, 0xC4, 0xDD, _SCAN})
_SCANNED: Final = re.compile(rb"(?:[^\xff]|\xff[\x00\xd0-\xd7])*\xff\xd9", re.DOTALL)


def _size(sent: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(sent), formats=_FORMATS) as image:
        return image.width, image.height


def _check_kind(sent: bytes) -> None:
    """By its beginning, whatever it was called."""
    if len(sent) > MAX_BYTES:
        told = f"has more than {MAX_BYTES // 1024} kilobytes"
        raise UnusableImage(told, slug="picture.too_large")
    if sent.startswith(_STARTS):
        return
    if b"<svg" in sent[:4096].lower():
        told = "is SVG, which can hold scripts: send it as PNG"
        raise UnusableImage(told, slug="picture.svg")
    raise UnusableImage("is not a PNG, JPEG or WebP picture", slug="picture.kind")


def _check_size(image: Any) -> None:
    """By its head, before anything is unpacked."""
    if image.width * image.height > MAX_PIXELS:
        told = f"has more than {MAX_PIXELS // 1_000_000} megapixels"
        raise UnusableImage(told, slug="image.too_large")
    if max(image.size) > MAX_SIDE:
        told = f"is wider or higher than {MAX_SIDE} pixels"
        raise UnusableImage(told, slug="picture.too_large")
    if getattr(image, "n_frames", 1) > 1:
        raise UnusableImage("moves: send a single picture", slug="picture.animated")


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

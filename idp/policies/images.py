"""Pictures that callers upload: validated by their content, and encoded anew.

The uploaded file itself is never stored. Only its pixels are, so that nothing else is served with
them: no script, no position where a photograph was taken, no data behind the end of the picture.
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
    """A file is not a picture that can be displayed; the message is the end of a sentence that
    begins with the field's name."""

    error_code = "picture.invalid"


class Box(NamedTuple):
    """The greatest size of a picture; a larger one is scaled down."""

    width: int
    height: int


class EncodedPicture(Struct, frozen=True):
    """A picture that was encoded anew, as it is stored and served."""

    type: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    content: bytes


def reencoded(file: bytes, box: Box) -> EncodedPicture:
    """Returns the picture, encoded anew and no larger than `box`.

    It takes too long for the event loop. Raises UnusableImage if the file is too large, of another
    kind, damaged, or has more than one picture.
    """
    _check_kind(file)
    from PIL import Image, ImageOps  # not at the top: it would slow down each start

    Image.MAX_IMAGE_PIXELS = None  # `_check_size` has a lower limit, with its own error code
    try:
        with Image.open(io.BytesIO(file), formats=_FORMATS) as image:
            _check_size(image)
            image.load()
            return _encoded(ImageOps.exif_transpose(image), box, is_photo=image.format == "JPEG")
    except _DAMAGED as error:
        raise UnusableImage("is damaged: it can't be drawn") from error


def taken_over(file: bytes, box: Box) -> EncodedPicture:
    """Returns the file unchanged if it is a JPEG as `reencoded` makes it, because a photograph
    loses quality with each encoding; for any other file, the result of `reencoded`.

    It takes too long for the event loop. Raises UnusableImage.
    """
    encoded = reencoded(file, box)
    if (
        encoded.type == "image/jpeg"
        and _is_bare(file)
        and _size(file) == (encoded.width, encoded.height)
    ):
        return EncodedPicture(encoded.type, encoded.width, encoded.height, file)
    return encoded


def _is_bare(photo: bytes) -> bool:
    """Returns whether a JPEG file holds only what is needed to draw it (ITU T.81, B.1)."""
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
# The markers of tables, the frame and the scan: a file that `reencoded` has made has no others.
_DRAWING: Final = frozenset({_JFIF, 0xDB, 0xC0, 0xC4, 0xDD, _SCAN})
_SCANNED: Final = re.compile(rb"(?:[^\xff]|\xff[\x00\xd0-\xd7])*\xff\xd9", re.DOTALL)


def _size(file: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(file), formats=_FORMATS) as image:
        return image.width, image.height


def _check_kind(file: bytes) -> None:
    """Checks the kind of a file by its first bytes. Raises UnusableImage."""
    if len(file) > MAX_BYTES:
        text = f"has more than {MAX_BYTES // 1024} kilobytes"
        raise UnusableImage(text, error_code="picture.too_large")
    if file.startswith(_STARTS):
        return
    if b"<svg" in file[:4096].lower():
        text = "is SVG, which can hold scripts: send it as PNG"
        raise UnusableImage(text, error_code="picture.svg")
    raise UnusableImage("is not a PNG, JPEG or WebP picture", error_code="picture.kind")


def _check_size(image: Any) -> None:
    """Checks the size that the header states, before the pixels are decoded.

    Raises UnusableImage.
    """
    if image.width * image.height > MAX_PIXELS:
        text = f"has more than {MAX_PIXELS // 1_000_000} megapixels"
        raise UnusableImage(text, error_code="image.too_large")
    if max(image.size) > MAX_SIDE:
        text = f"is wider or higher than {MAX_SIDE} pixels"
        raise UnusableImage(text, error_code="picture.too_large")
    if getattr(image, "n_frames", 1) > 1:
        raise UnusableImage("moves: send a single picture", error_code="picture.animated")


def _encoded(image: Any, box: Box, *, is_photo: bool) -> EncodedPicture:
    image = image.convert("RGB" if is_photo else "RGBA")
    image.thumbnail(box)
    image.info = {}  # the encoder would write some of the metadata into the file
    target = io.BytesIO()
    if is_photo:
        image.save(target, "JPEG", quality=88, optimize=True)
    else:
        image.save(target, "PNG", optimize=True)
    type: Literal["image/png", "image/jpeg"] = "image/jpeg" if is_photo else "image/png"
    return EncodedPicture(type, image.width, image.height, target.getvalue())

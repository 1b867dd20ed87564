"""Pictures that callers upload: validated by their content, and re-encoded.

The uploaded file itself is never stored. Only its pixels are, so that nothing else is served with
them: no script, no position where a photograph was taken, no data after the end of the picture.
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
_QUALITIES: Final = (85, 75, 65, 50)
_FORMATS: Final = ("PNG", "JPEG", "WEBP")
_SIGNATURES: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF")
_DECODING_ERRORS: Final = (
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


class PictureLimits(NamedTuple):
    """The greatest size of a picture; a larger one is scaled down. With `photo_bytes` it becomes a
    JPEG that is no longer than that."""

    width: int
    height: int
    photo_bytes: int | None = None


class EncodedPicture(Struct, frozen=True):
    """A re-encoded picture, as it is stored and served."""

    type: Literal["image/png", "image/jpeg"]
    width: int
    height: int
    content: bytes


def reencoded(file: bytes, limits: PictureLimits) -> EncodedPicture:
    """Returns the picture re-encoded, and no larger than `limits`.

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
            rotated = ImageOps.exif_transpose(image)
            if limits.photo_bytes is not None:
                return _photo(rotated, limits, limits.photo_bytes)
            return _encoded(rotated, limits, is_photo=image.format == "JPEG")
    except _DECODING_ERRORS as error:
        raise UnusableImage("is damaged: it can't be drawn") from error


def reencoded_if_needed(file: bytes, limits: PictureLimits) -> EncodedPicture:
    """Returns the file unchanged if it is a JPEG as `reencoded` makes it, because a photograph
    loses quality with each encoding; for any other file, the result of `reencoded`.

    It takes too long for the event loop. Raises UnusableImage.
    """
    encoded = reencoded(file, limits)
    if (
        encoded.type == "image/jpeg"
        and len(file) <= (limits.photo_bytes or MAX_BYTES)
        and _has_only_image_data(file)
        and _size(file) == (encoded.width, encoded.height)
    ):
        return EncodedPicture(encoded.type, encoded.width, encoded.height, file)
    return encoded


def _has_only_image_data(photo: bytes) -> bool:
    """Returns whether a JPEG file holds only the data that is needed to draw it (ITU T.81,
    B.1)."""
    offset = 2
    while photo[offset : offset + 1] == b"\xff":
        marker, length = photo[offset + 1], int.from_bytes(photo[offset + 2 : offset + 4], "big")
        if marker not in _IMAGE_MARKERS or (marker == _JFIF and length != _JFIF_BYTES):
            return False
        offset += 2 + length
        if marker == _SCAN:
            return _SCAN_DATA.fullmatch(photo, offset) is not None
    return False


_JFIF: Final = 0xE0
_JFIF_BYTES: Final = 16  # without a preview
_SCAN: Final = 0xDA
# The markers of tables, the frame and the scan: a file that `reencoded` has made has no others.
_IMAGE_MARKERS: Final = frozenset({_JFIF, 0xDB, 0xC0, 0xC4, 0xDD, _SCAN})
_SCAN_DATA: Final = re.compile(rb"(?:[^\xff]|\xff[\x00\xd0-\xd7])*\xff\xd9", re.DOTALL)


def _size(file: bytes) -> tuple[int, int]:
    from PIL import Image

    with Image.open(io.BytesIO(file), formats=_FORMATS) as image:
        return image.width, image.height


def _check_kind(file: bytes) -> None:
    """Checks the kind of a file by its first bytes. Raises UnusableImage."""
    if len(file) > MAX_BYTES:
        text = f"has more than {MAX_BYTES // 1024} kilobytes"
        raise UnusableImage(text, error_code="picture.too_large")
    if file.startswith(_SIGNATURES):
        return
    if b"<svg" in file[:4096].lower():
        text = "is SVG, which can contain scripts: send it as PNG"
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
        raise UnusableImage(
            "is animated: send a picture with a single frame", error_code="picture.animated"
        )


def _photo(image: Any, limits: PictureLimits, max_bytes: int) -> EncodedPicture:
    """Returns the picture as a JPEG of at most `max_bytes` bytes, on white where it is
    transparent."""
    from PIL import Image

    image = image.convert("RGBA")
    canvas = Image.new("RGB", image.size, "white")
    canvas.paste(image, mask=image.getchannel("A"))
    canvas.thumbnail(limits[:2])
    while True:
        for quality in _QUALITIES:
            target = io.BytesIO()
            canvas.save(target, "JPEG", quality=quality, optimize=True)
            if target.tell() <= max_bytes:
                content = target.getvalue()
                return EncodedPicture("image/jpeg", canvas.width, canvas.height, content)
        canvas = canvas.resize([max(1, side // 2) for side in canvas.size])


def _encoded(image: Any, limits: PictureLimits, *, is_photo: bool) -> EncodedPicture:
    image = image.convert("RGB" if is_photo else "RGBA")
    image.thumbnail(limits[:2])
    image.info = {}  # the encoder would write some of the metadata into the file
    target = io.BytesIO()
    if is_photo:
        image.save(target, "JPEG", quality=88, optimize=True)
    else:
        image.save(target, "PNG", optimize=True)
    media_type: Literal["image/png", "image/jpeg"] = "image/jpeg" if is_photo else "image/png"
    return EncodedPicture(media_type, image.width, image.height, target.getvalue())

"""Pictures for tests, and files that are no pictures."""

from __future__ import annotations

import io

from PIL import Image


def encoded(format="PNG", size=(300, 90), colour=(122, 31, 61), mode="RGB", **options):
    """A picture of one colour as a file."""
    target = io.BytesIO()
    Image.new(mode, size, colour).save(target, format, **options)
    return target.getvalue()


def opened(content):
    image = Image.open(io.BytesIO(content))
    image.load()
    return image


def animated(format):
    target = io.BytesIO()
    first, second = (Image.new("RGB", (20, 20), colour) for colour in ("red", "blue"))
    first.save(target, format, save_all=True, append_images=[second], duration=100)
    return target.getvalue()


def located():
    """A photograph with a location in its metadata, rotated by 90 degrees."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "taken at home"
    exif.get_ifd(0x8825)[2] = (47.0, 22.0, 0.0)
    return encoded("JPEG", exif=exif, comment=b"<script>alert(1)</script>")


SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
HTML = b"<html><script>alert(1)</script></html>"


def bad():
    """Refused files, by name: the file and the error code."""
    png = encoded()
    return {
        "nothing but a beginning": (png[:8], "picture.invalid"),
        "half": (png[: len(png) // 2], "picture.invalid"),
        "half a photograph": (encoded("JPEG")[:300], "picture.invalid"),
        "spoilt within": (png[:60] + b"\0\xff" * 9 + png[78:], "picture.invalid"),
        "a letter": (b"Dear Sir", "picture.kind"),
        "a page": (HTML, "picture.kind"),
        "SVG": (SVG, "picture.svg"),
        "SVG behind a comment": (b"<!-- " + b"x" * 900 + b" -->" + SVG, "picture.svg"),
        "GIF": (encoded("GIF"), "picture.kind"),
        "BMP": (encoded("BMP"), "picture.kind"),
        "a sound": (b"RIFF\x24\0\0\0WAVEfmt ", "picture.invalid"),
        "moving PNG": (animated("PNG"), "picture.animated"),
        "moving WebP": (animated("WEBP"), "picture.animated"),
        "too wide": (encoded(size=(2001, 1)), "picture.too_large"),
        "a bomb": (encoded(size=(30_000, 30), mode="1", colour=0), "picture.too_large"),
        "too many bytes": (png + b"\0" * 512 * 1024, "picture.too_large"),
    }

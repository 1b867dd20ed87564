"""The branding of an organization's mails: its name, colours, logo and support address."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from idp.config.settings import Config
from idp.passwords.hashing_threads import HashingBusy
from idp.policies import logo_plates, page_settings, palette, pictures
from idp.policies.page_settings import PageSettings
from idp.records import PICTURES
from idp.records.pictures import PictureKind
from idp.service import Service

_MAX_PIXELS: Final = (320, 96)  # twice as many as are displayed
_MAX_BYTES: Final = 30_000
_COLOURS: Final = 256  # of a logo that would be too large with all of its colours
_SECONDS: Final = 2


class MailLogo(Struct, frozen=True):
    """A logo as a PNG file, the size in which it is displayed, and the colour of the plate behind
    it. It always has a plate, because some mail programs invert the colours around it."""

    content: bytes
    width: int
    height: int
    plate: str


class MailBranding(Struct, frozen=True):
    """The branding of mails. `light` and `dark` are the colours by their names (`palette`);
    `radius` is that of corners in pixels; `support_email` is empty if there is none."""

    service_name: str
    host: str
    light: Mapping[str, str]
    dark: Mapping[str, str]
    radius: int
    support_email: str
    logo: MailLogo | None = None


async def find(service: Service, org_id: str | None) -> MailBranding:
    """Returns the branding of the organization's mails, or of the installation's if `org_id` is
    None, cached as the settings of pages are."""
    return await service.settings_cache.get(
        ("mail branding", org_id), service.clock.now(), lambda: _read(service, org_id)
    )


async def _read(service: Service, org_id: str | None) -> MailBranding:
    settings = await page_settings.find(service, org_id)
    colours = {
        scheme: palette.palette(palette.colours(settings.label, scheme) or built_in)
        for scheme, built_in in palette.BUILT_IN.items()
    }
    return MailBranding(
        service_name=_name(service.config, settings),
        host=urlsplit(service.config.issuer).netloc,
        light=colours["light"],
        dark=colours["dark"],
        radius=settings.label.radius,
        support_email=settings.privacy.support_email,
        logo=await _logo(service, org_id, settings),
    )


def _name(config: Config, settings: PageSettings) -> str:
    """Returns the name of the sender: the organization's, if its pages have that name, too."""
    has_own_name = settings.label.disable_watermark or (settings.logo and settings.logo.is_own)
    own_name = settings.name if has_own_name else None
    return own_name or config.smtp_from_name or urlsplit(config.issuer).netloc


async def _logo(service: Service, org_id: str | None, settings: PageSettings) -> MailLogo | None:
    """Returns the logo of light pages; None if there is none, or it can't be encoded now."""
    if settings.logo is None:
        return None
    kinds: tuple[PictureKind, ...] = ("logo", "logo_dark")
    keys = [
        (PICTURES, pictures.picture_id(owner, kind)) for kind in kinds for owner in (org_id, None)
    ]
    logos = pictures.displayed(await service.store.get_many(keys))
    if not logos:  # deleted since the settings were read
        return None
    plate = logo_plates.COLOURS[settings.logo.plates.get("light", "light")]
    content = base64.b64decode(logos[0].content)
    try:
        async with asyncio.timeout(_SECONDS):
            return await service.hasher.compute(lambda: encoded(content, plate))
    except (TimeoutError, HashingBusy):
        return None


def encoded(content: bytes, plate: str) -> MailLogo | None:
    """Returns a stored picture as a logo for mails, None if it can't be read. It takes too long
    for the event loop."""
    from PIL import Image  # not at the top: it would slow down each start

    try:
        with Image.open(io.BytesIO(content)) as picture:
            image = picture.convert("RGBA")
    except (OSError, ValueError, SyntaxError):
        return None
    image.thumbnail(_MAX_PIXELS)
    width, height = (max(1, side // 2) for side in image.size)
    file = _png(image)
    if len(file) > _MAX_BYTES:
        file = _png(image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE))
    while len(file) > _MAX_BYTES:
        image = image.resize([max(1, side // 2) for side in image.size])
        file = _png(image.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE))
    return MailLogo(file, width, height, plate)


def _png(image: Any) -> bytes:
    target = io.BytesIO()
    image.info = {}
    image.save(target, "PNG", optimize=True)
    return target.getvalue()

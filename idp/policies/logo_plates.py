"""The plate behind a logo that would be hard to see on the pages of a colour scheme."""

from __future__ import annotations

import asyncio
import base64
import io
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from idp.foundation.colours.contrast import contrast
from idp.passwords.hashing_threads import HashingBusy
from idp.policies import palette
from idp.records import PICTURES, LabelRules, Picture
from idp.records.pictures import Plate, Scheme
from idp.service import Service
from storage import StorageError, Update

Plates = Mapping[Scheme, Plate]

COLOURS: Final[Mapping[Plate, str]] = {"light": "#ffffff", "dark": "#14181f"}
_MIN_CONTRAST: Final = 3.0  # contrast (WCAG 2.2, 1.4.11)
_MIN_VISIBLE_SHARE: Final = 0.6  # of the logo's pixels
_MIN_ALPHA: Final = 128  # of 255
_SAMPLE_SIZE: Final = (160, 60)  # pixels
_SECONDS: Final = 2
# The plates of an image that can't be read.
_LIGHT_PLATES: Final[Plates] = {"light": "light", "dark": "light"}


async def of_logo(service: Service, logo: Picture, label: LabelRules) -> Plates:
    """Returns the plate that a logo gets in each colour scheme; a scheme without one is left out.

    The logo is examined once for its content and the backgrounds of the pages, in the threads that
    hash passwords, and the result is stored with it.
    """
    surfaces: dict[Scheme, str] = {
        scheme: (palette.colours(label, scheme) or palette.BUILT_IN[scheme]).background
        for scheme in palette.BUILT_IN
    }
    basis = " ".join((logo.digest, *surfaces.values()))
    if logo.plates is not None and logo.plates_basis == basis:
        return logo.plates
    try:
        async with asyncio.timeout(_SECONDS):
            work = partial(plates_for, base64.b64decode(logo.content), surfaces)
            plates = await service.hasher.compute(work)
    except (TimeoutError, HashingBusy):
        return _LIGHT_PLATES
    # If this fails, a later request examines the logo again.
    with suppress(StorageError):
        await service.store.commit(
            Update(
                PICTURES,
                logo.id,
                set={"plates": dict(plates), "plates_basis": basis},
                expect={"digest": logo.digest},
            )
        )
    return plates


def plates_for(content: bytes, surfaces: Mapping[Scheme, str]) -> Plates:
    """Returns the plate that a logo needs on each of the backgrounds: none if enough of it is
    visible. It takes too long for the event loop."""
    from PIL import Image  # not at the top: it would slow down each start

    try:
        with Image.open(io.BytesIO(content)) as image:
            sample = image.convert("RGBA")
            sample.thumbnail(_SAMPLE_SIZE, Image.Resampling.NEAREST)
            colour_counts: Any = sample.getcolors(sample.width * sample.height) or []
    except (OSError, ValueError, SyntaxError):
        return _LIGHT_PLATES
    weighted_colours = [
        (count, f"#{red:02x}{green:02x}{blue:02x}")
        for count, (red, green, blue, alpha) in colour_counts
        if alpha >= _MIN_ALPHA
    ]
    return {
        scheme: max(COLOURS, key=lambda plate: _visible_share(weighted_colours, COLOURS[plate]))
        for scheme, surface in surfaces.items()
        if _visible_share(weighted_colours, surface) < _MIN_VISIBLE_SHARE
    }


def _visible_share(weighted_colours: list[tuple[int, str]], background: str) -> float:
    """Returns the share of the pixels that are visible on the ground."""
    total = sum(count for count, _ in weighted_colours)
    visible = sum(
        count
        for count, colour in weighted_colours
        if contrast(colour, background) >= _MIN_CONTRAST
    )
    return visible / total if total else 0.0

"""Which logos are hard to see, and on what plate they are shown then."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from idp.policies import logo_plates

SURFACES = {"light": "#ffffff", "dark": "#161a22"}


def logo(colour, *, mode="RGBA", kind="PNG", ground=(0, 0, 0, 0), size=(300, 90)):
    image = Image.new("RGBA", size, ground)
    image.paste(colour, (20, 20, size[0] - 20, size[1] - 20))
    target = io.BytesIO()
    image.convert(mode).save(target, kind)
    return target.getvalue()


@pytest.mark.parametrize(
    ("colour", "plates"),
    [
        ((122, 31, 61, 255), {"dark": "light"}),
        ((20, 24, 31, 255), {"dark": "light"}),
        ((250, 250, 250, 255), {"light": "dark"}),
        ((214, 69, 69, 255), {}),
        ((122, 31, 61, 100), {"light": "light", "dark": "light"}),  # hardly there
    ],
)
def test_a_logo_of_one_colour_gets_a_plate_where_it_would_not_be_seen(colour, plates):
    assert logo_plates.plates_for(logo(colour), SURFACES) == plates


def test_a_logo_with_its_own_ground_is_judged_with_it():
    assert (
        logo_plates.plates_for(logo("white", ground=(214, 69, 69, 255), size=(100, 100)), SURFACES)
        == {}
    )


def test_a_photo_is_judged_as_well():
    assert logo_plates.plates_for(logo((20, 24, 31, 255), mode="RGB", kind="JPEG"), SURFACES) == {
        "dark": "light"
    }


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"<svg/>"])
def test_what_can_not_be_judged_gets_a_plate(content):
    assert logo_plates.plates_for(content, SURFACES) == {"light": "light", "dark": "light"}

"""Pictures that somebody sends: what is taken, and what becomes of it."""

from __future__ import annotations

import pytest

from idp.policies.images import PictureLimits, UnusableImage, reencoded
from tests.support.pictures import HTML, bad, encoded, located, opened

LIMITS = PictureLimits(400, 120)
BAD = bad()


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_single_picture_of_a_known_kind_is_refused(name):
    content, error_code = BAD[name]

    with pytest.raises(UnusableImage) as refusal:
        reencoded(content, LIMITS)
    assert refusal.value.error_code == error_code


@pytest.mark.parametrize(
    ("format", "type"), [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/png")]
)
def test_a_picture_that_fits_keeps_its_size(format, type):
    picture = reencoded(encoded(format), LIMITS)

    assert (picture.type, picture.width, picture.height) == (type, 300, 90)
    assert opened(picture.content).size == (300, 90)


def test_a_larger_one_is_made_to_fit():
    picture = reencoded(encoded(size=(2000, 1000)), LIMITS)

    assert (picture.width, picture.height) == (240, 120)


def test_what_one_can_see_through_stays_so():
    picture = reencoded(encoded(mode="RGBA", colour=(1, 2, 3, 0)), LIMITS)

    assert opened(picture.content).getpixel((0, 0)) == (1, 2, 3, 0)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "CMYK"])
def test_every_way_to_say_colours_is_understood(mode):
    format = "JPEG" if mode == "CMYK" else "PNG"
    picture = reencoded(encoded(format, mode=mode, colour=None), LIMITS)

    assert opened(picture.content).mode in ("RGB", "RGBA")


def test_nothing_of_a_photograph_is_stored_but_its_pixels_the_right_way_up():
    picture = reencoded(located(), LIMITS)
    kept = opened(picture.content)

    assert (picture.width, picture.height) == (36, 120)
    assert dict(kept.getexif()) == {}
    assert b"taken at home" not in picture.content
    assert b"script" not in picture.content


def test_what_is_hidden_behind_or_within_a_picture_is_gone():
    behind = reencoded(encoded() + HTML, LIMITS)
    within = reencoded(encoded("JPEG", comment=HTML), LIMITS)

    assert HTML not in behind.content
    assert HTML not in within.content


def test_even_a_picture_of_random_pixels_stays_small():
    import random

    from PIL import Image

    noise = Image.frombytes("RGBA", (400, 120), random.Random(1).randbytes(400 * 120 * 4))
    import io

    target = io.BytesIO()
    noise.save(target, "PNG")

    assert len(reencoded(target.getvalue(), LIMITS).content) < 200 * 1024

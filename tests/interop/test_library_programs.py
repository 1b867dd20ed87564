"""People sign in to the programs of presets for libraries, and sign out."""

from __future__ import annotations

import pytest

from tests.interop.library_programs import (
    PROGRAMS,
    Login,
    begun,
    sign_in,
    start,  # noqa: F401
)
from tests.interop.test_preset_programs import (
    begin,  # noqa: F401
    callback_of,
    is_signed_in,
)

every_program = pytest.mark.parametrize("name", PROGRAMS)


@every_program
async def test_a_person_signs_in_to_the_program_of_a_library(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    _, browser = await begin(name)
    own, other = browser(), browser()
    was_signed_in = await is_signed_in(own)
    await sign_in(place, open_browser(place), own, name)

    assert not was_signed_in
    assert await is_signed_in(own)
    assert not await is_signed_in(other)


@every_program
async def test_a_callback_in_another_browser_does_not_sign_in_to_the_program_of_a_library(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    pages = PROGRAMS[name]
    _, browser = await begin(name)
    own, other = browser(), browser()
    callback = await callback_of(place, open_browser(place), Login(own, pages.method), pages.login)
    await other.get(callback)

    assert not await is_signed_in(other)


@every_program
async def test_who_signs_out_of_the_program_of_a_library_is_signed_out_of_the_service(
    place,
    open_browser,
    begin,  # noqa: F811
    name,
):
    _, browser = await begin(name)
    own, person = browser(), open_browser(place)
    await sign_in(place, person, own, name)
    sent = await own.post(PROGRAMS[name].logout)
    back = await person.open(sent.headers["Location"])
    asked = await begun(person, own, name)

    assert not await is_signed_in(own)
    assert back.location == f"{own.base_url}/"
    assert asked.name == "login-name"

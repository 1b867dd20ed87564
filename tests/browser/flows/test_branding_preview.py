"""The preview beside the form of branding: it shows what is entered, before that is saved."""

import pytest
from playwright.sync_api import expect

from tests.browser import states

BUTTON = "main [data-kind=primary]"
CHOSEN = "rgb(122, 31, 61)"
FORM = "/ui/console/policies/label"


def until_it_has(person, colour):
    """Wait until the framed page has a primary button in this colour."""
    button = person.page.frame_locator("[name=preview]").locator(BUTTON)
    expect(button).to_have_css("background-color", colour)


@pytest.fixture
def administrator(new_person, signed_in):
    return new_person(storage_state=signed_in[states.ADMIN])


def test_the_preview_follows_what_is_typed_and_what_is_picked(administrator):
    administrator.go(FORM)
    page = administrator.page
    page.fill("[name=primaryColor]", "#7a1f3d")
    until_it_has(administrator, CHOSEN)
    page.locator("[data-of=primaryColor]").fill("#1f3d7a")
    until_it_has(administrator, "rgb(31, 61, 122)")

    assert page.input_value("[name=primaryColor]") == "#1f3d7a"
    assert administrator.name == "console/action"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_button_shows_what_is_entered_and_saves_nothing(new_person, signed_in, scripts):
    person = new_person(scripts=scripts, storage_state=signed_in[states.ADMIN])
    person.go(FORM)
    person.page.fill("[name=primaryColor]", "#7a1f3d")
    person.page.get_by_role("button", name="Preview").click()
    until_it_has(person, CHOSEN)
    person.go(FORM)

    assert person.page.input_value("[name=primaryColor]") == ""

"""What the console's own script adds: keys that lead to the search, and all rows at once."""

import pytest

from tests.browser import states

FOCUSED = "document.activeElement.id"


@pytest.fixture
def administrator(new_person, signed_in):
    return new_person(storage_state=signed_in[states.ADMIN])


def test_a_slash_and_control_k_lead_to_the_search(administrator):
    administrator.go("/ui/console/policies/privacy")
    administrator.page.keyboard.press("/")
    assert administrator.page.evaluate(FOCUSED) == "find"
    administrator.page.fill("[name=helpLink]", "https:")
    administrator.page.keyboard.press("/")
    assert administrator.page.input_value("[name=helpLink]") == "https:/"
    administrator.page.keyboard.press("Control+K")

    assert administrator.page.evaluate(FOCUSED) == "find"


def test_the_slash_can_be_switched_off_and_on(administrator):
    page = administrator.page
    administrator.go("/ui/console/search?q=de")
    page.get_by_label("Press / to go to the search").uncheck()
    administrator.go("/ui/console")
    page.keyboard.press("/")
    assert page.evaluate(FOCUSED) != "find"
    page.keyboard.press("Control+K")
    assert page.evaluate(FOCUSED) == "find"
    administrator.go("/ui/console/search?q=de")
    page.get_by_label("Press / to go to the search").check()
    administrator.go("/ui/console")
    page.keyboard.press("/")

    assert page.evaluate(FOCUSED) == "find"


def test_one_box_selects_all_rows(administrator):
    page = administrator.page
    administrator.go("/ui/console/users")
    boxes = page.locator("[name=user]")
    page.get_by_label("Select all").check()
    assert boxes.count() > 1
    assert all(box.is_checked() for box in boxes.all())
    boxes.first.uncheck()
    assert not page.get_by_label("Select all").is_checked()
    page.get_by_label("Select all").check()
    page.get_by_label("Select all").uncheck()

    assert not any(box.is_checked() for box in boxes.all())

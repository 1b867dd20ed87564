"""The browser itself says whether a new password has what is demanded, also without scripts."""

from __future__ import annotations

import unicodedata

import pytest

from handlers.http import static_files
from idp.passwords import policy as password_policy
from idp.records import ComplexityRules
from tests.browser import states
from tests.support.pages.rendered import rendered

# Letters of another kind in a later version of Unicode, and what is a space to one of the two.
OTHERWISE = {"\u0295", "\ufeff"}
ALL = ComplexityRules(has_lowercase=True, has_uppercase=True, has_number=True, has_symbol=True)
REFUSED = """([pattern, text]) =>
    [...text].filter((each) => !new RegExp(`^(?:${pattern})$`, "v").test(each))"""


def shown_marks(page):
    """What the page says of what was typed."""
    return [kind for kind in ("met", "unmet") if page.locator(f"form .{kind}").is_visible()]


def test_a_long_enough_password_is_marked_at_once_and_a_short_one_afterwards(new_person):
    person = new_person(scripts=False)
    states.at_registration(person)
    field = person.page.locator("[name=newPassword]")
    first = shown_marks(person.page)
    field.press_sequentially("brief")
    typing = shown_marks(person.page)
    person.page.locator("[name=email]").focus()
    left = shown_marks(person.page)
    field.fill("a long and quiet evening")

    assert (first, typing, left, shown_marks(person.page)) == ([], [], ["unmet"], ["met"])


@pytest.mark.parametrize(
    ("typed", "is_met"),
    [("eightlet", False), ("only1digit", False), ("one1and!", True), ("১২৩৪৫৬৭৮–", True)],
)
def test_what_a_policy_demands_is_looked_for(looker, typed, is_met):
    """The sample's policy: eight characters, with a digit and a symbol."""
    page = looker.page
    page.goto("about:blank")  # the content would have the policy of the page before it
    page.set_content(rendered("change-password", problems=[], retry_seconds=None))
    page.add_style_tag(content=static_files.find(static_files.url("sign-in.css")).content.decode())
    page.fill("[name=newPassword]", typed)
    page.locator("[name=newPassword]").blur()

    assert shown_marks(page) == (["met"] if is_met else ["unmet"])
    title = page.locator("[name=newPassword]").get_attribute("title")
    assert title == "The new password needs: a digit, a symbol, such as ! or #"


def test_no_browser_refuses_a_character_that_the_service_takes(looker):
    looker.page.goto("about:blank")
    known = [chr(n) for n in range(0x10000) if unicodedata.category(chr(n)) not in ("Cn", "Cs")]

    for demand in password_policy.required_classes(ALL):
        taken = "".join(filter(demand.is_met_by, known))
        assert {*looker.page.evaluate(REFUSED, [demand.pattern, taken])} <= OTHERWISE
        assert looker.page.evaluate(REFUSED, [demand.pattern, "aA1!"])

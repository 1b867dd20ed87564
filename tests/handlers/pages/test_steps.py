"""The pages of a sign-in's steps: their form, its actions, their problems, and who asks."""

from __future__ import annotations

import pytest

from idp.foundation.i18n import message
from tests.support.pages.rendered import Page, bare, quiet, rendered

# Pages with something to decide; the others only lead on.
STEPS = [
    "login-name",
    "password",
    "accounts",
    "change-password",
    "setup",
    "logout-confirm",
    "demo",
    "register",
    "verify-email",
    "user-name",
    "reset",
    "reset-code",
    "totp",
    "recovery-code",
    "factor-offer",
    "totp-enrol",
]


@pytest.mark.promise("session: pages")
@pytest.mark.parametrize("name", STEPS)
def test_a_step_has_one_form_that_posts_its_hidden_inputs(name):
    page = quiet(name, hidden=[("flow", "f1"), ("_xsrf", "x")], action="/ui/there")
    (form,) = [form for form in page.all("form") if form.get("id") == "step"]

    assert (form["method"], form["action"]) == ("post", "/ui/there")
    assert page.named("flow")[0] == {
        "tag": "input",
        "text": "",
        "type": "hidden",
        "name": "flow",
        "value": "f1",
    }
    # The form of other providers, where there is one, has the same.
    forms = [form for form in page.all("form") if form.get("method") == "post"]
    assert len(page.named("_xsrf")) == len(forms)
    assert {e["value"] for e in page.named("_xsrf")} == {"x"}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_posts_to_its_own_address_by_default(name):
    (form,) = [form for form in quiet(name, action=None).all("form") if form.get("id") == "step"]

    assert "action" not in form


@pytest.mark.parametrize("name", STEPS)
def test_the_enter_key_presses_the_primary_action_and_cancel_is_last(name):
    buttons = [b for b in quiet(name).all("button") if b.get("type") != "button"]
    has_primary = any(b.get("data-kind") == "primary" for b in buttons)

    assert buttons[0].get("data-kind") == ("primary" if has_primary else None)
    assert (buttons[-1]["value"], buttons[-1]["data-kind"]) == ("cancel", "quiet")


def test_a_password_is_shown_by_a_button_within_its_field():
    page = quiet("password")
    (button,) = [button for button in page.all("button") if "aria-pressed" in button]

    assert (button["type"], button["aria-label"]) == ("button", "Show password")
    assert (button["aria-pressed"], "hidden" in button) == ("false", True)
    assert button["aria-controls"] == page.named("password")[0]["id"]


@pytest.mark.parametrize(
    ("tag", "names"),
    [
        ("en", ["givenName", "familyName"]),
        ("ja", ["familyName", "givenName"]),
        ("zh-Hans", ["familyName", "givenName"]),
    ],
)
def test_the_names_are_in_the_order_of_the_language(tag, names):
    page = Page(rendered("register", tag, problems=[], retry_seconds=None))
    fields = [e for e in page.all("input") if e.get("name", "").endswith("Name")]

    assert [field["name"] for field in fields if field["name"] != "userName"] == names
    assert [field["name"] for field in fields if "autofocus" in field] == names[:1]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_can_be_cancelled_only_when_somebody_asked_for_it(name):
    (cancel,) = [b for b in quiet(name).all("button") if b.get("value") == "cancel"]

    assert cancel["name"] == "decision"
    assert "formnovalidate" in cancel
    assert "cancel" not in bare(name)


def test_an_account_is_chosen_by_its_button():
    page = quiet("accounts")
    buttons = page.named("account")

    assert [button["value"] for button in buttons] == ["s1", "other"]
    assert "Minnie Mouse" in buttons[0]["text"]
    assert [button["value"] for button in page.named("signedOut")] == ["u2"]
    assert page.named("forget") == []
    assert "minnie@acme.example can't be used for Wiki" in page.one("main")["text"]


def test_accounts_that_are_signed_out_can_be_removed_on_a_page_that_chooses_none():
    page = quiet("accounts", is_edited=True)
    (button,) = page.named("forget")

    assert (button["value"], button["aria-label"]) == ("u2", "Remove minnie@acme.example")
    assert page.named("account") + page.named("signedOut") == []


def test_signing_out_is_asked_with_two_buttons():
    page = Page(bare("logout-confirm"))

    assert [button["value"] for button in page.named("decision")] == ["logout", "stay"]


def test_the_policy_is_stated_in_words_and_for_password_managers():
    page = quiet("change-password")
    (field,) = page.named("newPassword")

    assert field["minlength"] == "8"
    rules = "minlength: 8; maxlength: 200; required: digit; required: special;"
    assert field["passwordrules"] == rules
    for needed in ("at least 8 characters", "a digit", "a symbol"):
        assert needed in page.one("main")["text"]


def test_the_own_change_asks_for_the_current_password():
    assert len(quiet("account/password").named("currentPassword")) == 1
    assert Page(bare("account/password")).named("currentPassword") == []


@pytest.mark.parametrize(
    ("name", "field"), [("login-name", "loginName"), ("password", "password")]
)
def test_the_only_problem_is_reported_once_at_its_field_which_has_the_focus(name, field):
    problems = [{"field": field, "text": message("That is wrong.")}]
    page = Page(rendered(name, problems=problems, retry_seconds=None))
    (wrong,) = page.named(field)
    (beneath,) = [e for e in page.elements if e.get("id") == f"{field}-problem"]

    assert page.one("title")["text"].startswith("Error: ")
    assert alerts(page) == []
    assert page.one("main")["text"].count("That is wrong.") == 1
    assert (wrong["aria-invalid"], "autofocus" in wrong) == ("true", True)
    assert f"{field}-problem" in wrong["aria-describedby"].split()
    assert beneath["text"].strip() == "That is wrong."


def alerts(page):
    return [element for element in page.elements if element.get("role") == "alert"]


@pytest.mark.parametrize("field", [None, "notOnThisPage"])
def test_a_problem_of_no_field_is_reported_above_the_form(field):
    problems = [{"field": field, "text": message("That is wrong.")}]
    page = Page(rendered("password", problems=problems, retry_seconds=None))
    (box,) = alerts(page)

    assert box["text"].strip() == "That is wrong."
    assert (box["tabindex"], "autofocus" in box) == ("-1", True)
    assert page.one("main")["text"].count("That is wrong.") == 1
    assert not [element for element in page.elements if "aria-invalid" in element]


def test_two_problems_are_reported_at_their_fields_and_linked_above_the_form():
    problems = [
        {"field": "email", "text": message("Enter an address.")},
        {"field": "newPassword", "text": message("Enter more.")},
        {"field": "newPassword", "text": message("And a digit.")},
    ]
    page = Page(rendered("register", problems=problems, retry_seconds=None))
    (box,) = alerts(page)
    links = [link for link in page.all("a") if link["href"].startswith("#")]

    assert "Fix these 2 fields" in box["text"]
    assert [(link["href"], link["text"]) for link in links] == [
        ("#email", "Email"),
        ("#newPassword", "New password"),
    ]
    assert ("autofocus" in box, "Enter more." in box["text"]) == (True, False)
    for text in ("Enter an address.", "Enter more.", "And a digit."):
        assert page.one("main")["text"].count(text) == 1
    assert [e["id"] for e in page.all("input") if "aria-invalid" in e] == ["email", "newPassword"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "again in 1 second."), (30, "again in 30 seconds.")]
)
def test_who_tried_too_often_learns_how_long_to_wait(seconds, text):
    assert text in rendered("password", problems=[], retry_seconds=seconds)


@pytest.mark.parametrize("name", ["login-name", "password", "accounts", "change-password"])
def test_a_step_says_for_which_application(name):
    page = quiet(name)

    assert "to continue to Acme Wiki" in page.one("main")["text"]
    assert page.one("title")["text"].endswith(" – Acme Wiki")
    (cancel,) = [button for button in page.all("button") if button.get("value") == "cancel"]
    assert cancel["text"].strip() == "Cancel and return to Acme Wiki"
    assert "to continue" not in bare(name)


@pytest.mark.parametrize("name", ["login-name", "password", "accounts", "change-password"])
def test_an_area_of_the_service_itself_is_no_application_that_asks(name):
    page = quiet(name, is_own_area=True, application_name="Account")

    (cancel,) = [button for button in page.all("button") if button.get("value") == "cancel"]
    assert cancel["text"].strip() == "Cancel"
    assert "to continue" not in page.one("main")["text"]


@pytest.mark.parametrize("name", ["explain", "error", "logged-out", "signed-in"])
def test_other_pages_lead_nowhere_by_themselves(name):
    assert "to continue" not in rendered(name)

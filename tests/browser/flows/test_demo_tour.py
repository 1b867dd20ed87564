"""The demo, as a visitor walks through it: with scripts and without."""

import pytest

from tests.browser.person import in_both_ways


@pytest.mark.promise("session: pages")
@in_both_ways
def test_a_person_signs_in_and_out(person):
    person.go("/demo")
    person.press("Sign in")
    assert (person.name, person.page.title()) == ("login-name", "Sign in – Demo application")
    person.sign_in(*person.program.user)

    assert person.name == "demo"
    assert "dana@example.com" in person.text
    person.press("Sign out")
    assert person.name == "demo"
    assert "dana@example.com" not in person.text
    person.go("/demo/sign-in?prompt=none")
    assert "login_required" in person.text


def test_the_tokens_can_be_refreshed(person):
    person.sign_in_to_demo()
    person.press("Refresh the tokens")

    assert "the tokens are refreshed" in person.text


def test_who_is_signed_in_is_known_silently(person):
    person.sign_in_to_demo()
    person.press("Sign in silently")

    assert person.name == "demo"
    assert "dana@example.com" in person.text


def test_the_password_can_be_asked_for_again(person):
    person.sign_in_to_demo()
    person.press("Sign in again")
    assert person.name == "password"
    assert person.page.input_value("input[name=loginName]") == "demo"
    person.fill(password=person.program.user[1])
    person.press("Sign in")

    assert person.name == "demo"


def test_two_accounts_live_in_one_browser(person, admin):
    person.sign_in_to_demo()
    person.sign_in_to_demo(*admin, prompt="select_account")
    person.go("/demo/sign-in")
    assert person.name == "accounts"
    person.press("Dana Demo")
    assert "dana@example.com" in person.text
    person.press("Sign in with another account")
    person.press(admin[0])

    assert person.name == "demo"
    assert admin[0] in person.text
    person.go("/demo/sign-in?prompt=none")
    assert "interaction_required" in person.text


def test_a_one_time_password_is_replaced(person, program, one_time_password):
    name = program.announcement["admin"]["loginName"]
    person.go("/demo/sign-in")
    person.sign_in(name, one_time_password())
    assert person.name == "change-password"
    person.fill(newPassword="short")
    with_native_check = person.page.locator("#step").evaluate("form => (form.noValidate = true)")
    person.press("Save the new password")
    assert with_native_check
    assert person.name == "change-password"
    assert "Use at least 8 characters." in person.text
    person.fill(newPassword="a long and quiet afternoon")
    person.press("Save the new password")

    assert person.name == "demo"
    assert name in person.text


def test_cancel_leads_back_to_the_application(person):
    person.go("/demo/sign-in")
    person.press("Cancel")

    assert person.name == "demo"
    assert "access_denied" in person.text


def test_the_back_button_after_the_sign_in_is_no_dead_end(person):
    person.sign_in_to_demo()
    person.page.go_back()
    assert person.name in ("expired", "demo", "password")
    person.go("/demo/sign-in")

    assert person.name == "demo"


def test_the_language_stays_for_the_whole_sign_in(person):
    person.go("/demo/sign-in")
    person.choose_language("de")
    assert "Anmelden" in person.text
    person.fill(loginName="demo")
    person.press("Weiter")

    assert person.page.locator("html").get_attribute("lang") == "de"
    assert person.name == "password"


@pytest.mark.promise("session: cookies")
def test_the_answer_reaches_an_application_on_another_origin(person, other_site):
    demo = person.program.demo()
    demo.client_id, demo.redirect_uri = other_site.client_id, other_site.redirect_uri
    person.page.goto(demo.authorize_url(state="there"))
    person.sign_in(*person.program.user)

    assert person.page.url == other_site.home
    assert any("state=there" in path for path in other_site.seen)
    assert person.complaints == []

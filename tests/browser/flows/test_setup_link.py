"""The link that the start prints, opened in a browser: with scripts and without."""

from urllib.parse import quote

NEW = "a long and quiet afternoon"


def link_of(program, password):
    """The set-up link, as the start prints it."""
    name = program.announcement["admin"]["loginName"]
    return f"/ui/setup#t={password}&u={quote(name)}"


def test_the_start_prints_this_link(program):
    assert program.announcement["admin"]["setupUrl"] == program.issuer + link_of(
        program, program.announcement["admin"]["password"]
    )


def test_the_link_fills_in_all_but_the_new_password(new_person, program, one_time_password):
    person, password = new_person(), one_time_password()
    person.go(link_of(program, password))

    assert (
        person.page.input_value("input[name=loginName]")
        == program.announcement["admin"]["loginName"]
    )
    assert person.page.input_value("input[name=password]") == password
    person.wait_for_focus("newPassword")
    assert person.page.url == f"{program.issuer}/ui/setup"
    assert person.page.evaluate("history.length") <= 2
    person.page.keyboard.type("password")
    person.press("Save the new password")
    assert person.page.title().startswith("Error: ")
    person.fill(newPassword=NEW)
    person.press("Save the new password")

    assert (person.name, person.page.url) == ("console/overview", f"{program.issuer}/ui/console")
    assert person.page.locator(".self bdi").inner_text() == "Administrator"


def test_the_link_counts_in_another_language_too(new_person, program, one_time_password):
    person, password = new_person(), one_time_password()
    person.go(link_of(program, password))
    person.choose_language("ar")

    assert person.page.get_attribute("html", "lang") == "ar"
    assert person.page.input_value("input[name=password]") == password
    assert person.page.url == f"{program.issuer}/ui/setup?lang=ar"


def test_without_scripts_the_person_types_both(new_person, program, one_time_password):
    person, password = new_person(scripts=False), one_time_password()
    person.go(link_of(program, password))
    person.fill(
        loginName=program.announcement["admin"]["loginName"], password=password, newPassword=NEW
    )
    person.press("Save the new password")

    assert person.name == "console/overview"

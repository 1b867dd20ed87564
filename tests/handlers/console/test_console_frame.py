"""What stands around the pages of the console: navigation, breadcrumbs, tabs."""

from __future__ import annotations

import re

from handlers.console.sections import SECTIONS
from tests.support.management import console
from tests.support.pages.rendered import Page

USERS = "/ui/console/users"


def current(page):
    """The addresses that are marked as the page that is open."""
    links = Page(page.text).all("a")
    return [link["href"] for link in links if link.get("aria-current") == "page"]


def breadcrumbs(page):
    (way,) = re.findall(r'<nav class="breadcrumbs".*?</nav>', page.text, re.DOTALL) or [""]
    return [(link["text"], link["href"]) for link in Page(way).all("a")]


async def made(server, visitor):
    page = await console.admin(server, visitor, f"{USERS}/new")
    entered = {
        "profile.givenName": "Minnie",
        "profile.familyName": "Mouse",
        "email.email": "minnie@acme.example",
        "email.how": "isVerified",
    }
    page = await visitor.submit(page, **entered)
    return page, page.url.partition("?")[0].removeprefix(server.issuer)


async def test_the_navigation_names_its_groups_and_draws_an_icon_for_each_section(server, visitor):
    page = Page((await console.admin(server, visitor)).text)
    lists = [each for each in page.all("ul") if each.get("aria-labelledby")]
    headings = {each["id"]: each["text"] for each in page.all("p") if "id" in each}

    assert [headings[each["aria-labelledby"]] for each in lists] == [
        "Directory",
        "Applications",
        "Sign-in",
        "Monitor",
        "Installation",
    ]
    assert len({section.icon for section in SECTIONS.values()}) >= len(SECTIONS) - 2


async def test_one_section_is_marked_as_current(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/domains")

    assert current(page) == ["/ui/console/domains"]


async def test_on_a_phone_a_button_opens_the_navigation_without_scripts(server, visitor):
    page = Page((await console.admin(server, visitor)).text)
    (opener,) = [each for each in page.all("button") if "popovertarget" in each]
    (navigation,) = [each for each in page.all("nav") if "popover" in each]

    assert (opener["popovertarget"], opener["aria-label"]) == (navigation["id"], "Menu")


async def test_the_first_page_of_a_section_has_no_breadcrumbs(server, visitor):
    assert breadcrumbs(await console.admin(server, visitor, USERS)) == []


async def test_breadcrumbs_lead_from_a_form_to_its_record_and_its_section(server, visitor):
    page, here = await made(server, visitor)

    form = await visitor.open(f"{here}/lock")

    assert breadcrumbs(page) == [("Users", USERS)]
    assert breadcrumbs(form) == [("Users", USERS), ("minnie@acme.example", here)]


async def test_each_tab_of_a_user_leads_to_its_lists(server, visitor):
    page, here = await made(server, visitor)
    (tabs,) = re.findall(r'<nav class="tabs".*?</nav>', page.text, re.DOTALL)
    links = {link["text"]: link["href"] for link in Page(tabs).all("a")}
    shown = {}
    for label, address in links.items():
        tab = await visitor.open(address)
        assert current(tab) == [USERS, address]
        shown[label] = re.findall(r"<h2>(.*?)</h2>", tab.text)

    assert links["Profile"] == here
    assert shown == {
        "Profile": ["Danger zone"],
        "Sign-in methods": ["Passkeys", "Second factors", "Accounts at other providers"],
        "Sessions": ["Sessions"],
        "Roles": ["Roles in projects", "Administrator roles"],
        "Activity": ["Activity"],
        "Metadata": ["Metadata"],
    }


async def test_a_tab_is_closed_to_who_lacks_its_permission(server, visitor, new_visitor):
    _, here = await made(server, visitor)
    manager = new_visitor()
    await console.manager(server, manager, "ORG_USER_MANAGER", name="daisy")

    page = await manager.get(here)
    activity = await manager.get(f"{here}/activity")

    assert page.status == 200
    assert f"{here}/activity" not in page.text
    assert activity.status == 403


async def test_an_application_has_a_tab_for_each_subject_and_the_file_of_a_tool(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get("/ui/console/applications/new?preset=grafana")
    page = await visitor.submit(form, name="Metrics", host="metrics.example")
    (here,) = re.findall(r'href="([^"]+/applications/[^"/]+)"', page.text)
    page = await visitor.get(here)
    (tabs,) = re.findall(r'<nav class="tabs".*?</nav>', page.text, re.DOTALL)
    links = {link["text"]: link["href"] for link in Page(tabs).all("a")}
    connect = await visitor.get(links["How to connect"] + "?preset=grafana")
    urls, tokens = await visitor.get(links["URLs"]), await visitor.get(links["Tokens"])

    assert list(links) == [
        "Overview",
        "How to connect",
        "Credentials",
        "URLs",
        "Tokens",
        "Access",
        "Activity",
    ]
    assert "https://metrics.example/login/generic_oauth" in urls.text
    assert "authorization_code" in tokens.text
    assert "/.well-known/openid-configuration" in connect.text
    assert "metrics.example" in re.search("<pre class=.listing.*?</pre>", connect.text, re.S)[0]
    assert "Administrator created the application" in re.sub(
        "<.*?>", "", (await visitor.get(links["Activity"])).text
    )


async def test_an_api_has_no_tabs_for_what_clients_alone_have(server, visitor):
    await console.admin(server, visitor)
    form = await visitor.get("/ui/console/applications/new?kind=api")
    page = await visitor.submit(form, name="Orders")
    (here,) = re.findall(r'href="([^"]+/applications/[^"/]+)"', page.text)
    page = await visitor.get(here)

    assert f"{here}/credentials" in page.text
    assert f"{here}/urls" not in page.text
    for tab in ("connect", "urls", "tokens", "access"):
        assert (await visitor.get(f"{here}/{tab}")).status == 404

"""Whatever things and people are called, and whatever is asked for: no page does or shows
anything but its words."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.browser import states
from tests.browser.pages import hostile
from tests.browser.pages.hostile import ASKING, EVERYTHING, GROUPS, MADE, MARKS, SAID, Party
from tests.support.attacks.payloads import NAMES, PARAMETERS, packed

# A few pages with many names in the suite full; all of them in load.
LEAN = ("accounts", "consent", "console, user")
# Where the address itself is reflected, or its refusal is.
ADDRESSES = (
    "/demo/callback?error={0}&error_description={0}&state={0}&iss={0}",
    "/oauth/v2/authorize?client_id={0}&redirect_uri={0}&state={0}&scope={0}&prompt={0}",
    "/ui/login?flow={0}&start={0}&lang={0}",
    "/ui/login/password?flow={0}&start={0}",
    "/ui/reset?user={0}&code={0}&start={0}",
    "/ui/verify-email?userId={0}&code={0}",
    "/ui/device?user_code={0}",
    "/ui/logout?request={0}",
    "/ui/logged-out?state={0}&client={0}",
    "/oidc/v1/end_session?client_id={0}&state={0}&post_logout_redirect_uri={0}&ui_locales={0}",
    "/docs/{0}",
    "/nowhere/{0}",
    "/?lang={0}",
)
OF_CONSOLE = ("/ui/console/users?text={0}&by={0}&done={0}", "/ui/console/organizations?name={0}")


@pytest.fixture(scope="module")
def world(chromium):
    with hostile.world(chromium) as made:
        yield made


@pytest.fixture
def visit(request, world, monkeypatch):
    """Makes visitors of that service, nobody of whom meets anything but pages."""
    monkeypatch.setattr(states, "as_admin", world.as_admin)
    monkeypatch.setattr(states, "RelyingParty", Party)
    if request.node.get_closest_marker("load"):
        world.wait()
    made = []

    def visit(who=states.NOBODY):
        made.append(world.visitor(who))
        return made[-1]

    yield visit
    for person in made:
        person.context.close()
    assert [each for person in made for each in person.complaints] == []
    assert [each for person in made for each in person.elsewhere] == []


def look(person):
    """Nothing was made of any payload, and each name stands there as it is or was; how many."""
    assert person.page.evaluate(MADE) == []
    said = person.page.evaluate(SAID)
    found = sum(said.count(mark) for mark in MARKS)
    assert found == sum(said.count(f"{mark} {group}") for mark in MARKS for group in GROUPS), said
    return found


def every_state():
    rows = [name for name in states.STATES if not states.STATES[name][1].startswith("docs")]
    marks = {name: [] if name in LEAN else [pytest.mark.load] for name in rows}
    return pytest.mark.parametrize("state", [pytest.param(n, marks=marks[n]) for n in rows])


def test_there_are_payloads_of_many_kinds():
    assert len({*NAMES, *PARAMETERS}) >= 25
    assert set(LEAN) <= set(states.STATES)


@every_state()
def test_no_name_does_anything_on_a_page(world, visit, state):
    who, name, _, go = states.STATES[state]
    world.rename(0)
    person = visit(who)
    go(person)
    assert person.name == name, person.text
    shown = look(person)
    # It is shown again with other names; what is gone by then is a page too.
    for n in range(1, len(GROUPS)) if name != "form-post" else ():
        world.rename(n)
        person.page.reload(wait_until="domcontentloaded")
        shown += look(person)

    assert shown or state not in LEAN


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(text, marks=[pytest.mark.load] if n else [])
        for n, text in enumerate([EVERYTHING[:1500], *packed(100, NAMES), *PARAMETERS])
    ],
)
def test_nothing_in_an_address_does_anything_on_its_page(world, visit, payload):
    anybody, admin = visit(), visit(states.ADMIN)

    for path in ADDRESSES:
        anybody.go(path.format(quote(payload, safe="")))
        look(anybody)
    for path in OF_CONSOLE:
        admin.go(path.format(quote(payload, safe="")))
        look(admin)


def test_state_comes_back_as_it_was_sent(world, visit):
    world.rename(0)
    person, seen = visit(), []
    person.page.on("request", lambda request: seen.append(request.url))
    states.begin(person)
    person.sign_in(*world.program.user)

    (answer,) = [url for url in seen if "/demo/callback?" in url]
    assert parse_qs(urlsplit(answer).query)["state"] == [ASKING["state"]]


@pytest.mark.load
def test_held_mail_is_drawn_without_doing_anything(world, visit):
    """As a mail program does that shows the letter's HTML."""
    person = visit()
    states.registered(person, givenName=GROUPS[0], familyName=GROUPS[1])
    person.page.goto("about:blank")
    mails = world.held_mail()
    for mail in mails:
        person.page.set_content(mail["html"])
        (own_style,) = person.page.locator("style").all()  # the frame's, for dark and narrow
        assert not [mark for mark in MARKS if mark in own_style.text_content()]
        own_style.evaluate("(element) => element.remove()")
        look(person)

    assert mails

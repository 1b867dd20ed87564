"""What an authorization request needs next: `decide` as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from idp.config.settings import Config
from idp.identity import authentication_context
from idp.identity.sessions.lifetime import LiveSession
from idp.identity.users.subjects import Subject
from idp.oauth.errors import InteractionRequired, LoginRequired
from idp.oauth.sign_in.next_step import Continue, Refuse, ShowPage, SignInPage, decide
from idp.records import AuthRequest, LoginRules, Organization, Profile, Session, User
from tests.support.clock import SteppingClock

NOW = SteppingClock().now()
CONFIG = Config()
DAY = 86400


def live(name: str, age: float = 60) -> LiveSession:
    """A session of `name`, whose password was checked `age` seconds ago."""
    then = NOW - timedelta(seconds=age)
    user = User(
        id=f"id-{name}",
        org_id="org",
        kind="human",
        user_name=name.title(),
        login_key=name,
        stamp="s",
        profile=Profile(display_name=name),
        created_at=then,
        changed_at=then,
        email_key=f"{name}@mail.example",
    )
    organization = Organization(
        id="org",
        name="Org",
        name_key="org",
        primary_domain="xn--bcher-kva.example",
        stamp="s",
        created_at=then,
        changed_at=then,
    )
    session = Session(
        id=f"session-{name}",
        agent_id="agent",
        user_id=user.id,
        org_id="org",
        stamps="x",
        auth_time=then,
        amr=["pwd"],
        acr=authentication_context.PASSWORD,
        created_at=then,
        last_used_at=then,
        expires_at=NOW + timedelta(days=30),
    )
    subject = Subject(instance=None, organization=organization, user=user)
    return LiveSession(session, subject, LoginRules())


ANN, BOB, OLD = live("ann"), live("bob"), live("ann", 11 * DAY)
FRESH = live("ann", 0)
DONE_HERE = {"session_id": "session-ann", "authenticated_session_id": "session-ann"}


def request(**changes) -> AuthRequest:
    values = {
        "id": "r",
        "client_id": "c",
        "redirect_uri": "https://client.example/cb",
        "response_type": "code",
        "response_mode": "query",
        "scopes": ["openid"],
        "created_at": NOW - timedelta(seconds=10),
        "expires_at": NOW + timedelta(hours=1),
    }
    return AuthRequest(**(values | changes))


@dataclass
class Case:
    sentence: str
    live: list[LiveSession]
    step: object
    asked: dict = field(default_factory=dict)


def ask(page: SignInPage, login_name: str | None = None) -> ShowPage:
    return ShowPage(page, login_name=login_name)


NAME, ACCOUNTS = ask(SignInPage.LOGIN_NAME), ask(SignInPage.ACCOUNTS)
CASES = [
    Case("nobody is signed in", [], NAME),
    Case("one is signed in", [ANN], Continue(ANN)),
    Case("two are signed in", [ANN, BOB], ACCOUNTS),
    Case("the password is too old", [OLD], ask(SignInPage.PASSWORD, "Ann")),
    # prompt
    Case("prompt login", [ANN], ask(SignInPage.PASSWORD, "Ann"), {"prompt": ["login"]}),
    Case("prompt login, two sessions", [ANN, BOB], ACCOUNTS, {"prompt": ["login"]}),
    Case("prompt login, nobody", [], NAME, {"prompt": ["login"]}),
    Case("prompt login, done here", [ANN], Continue(ANN), {"prompt": ["login"]} | DONE_HERE),
    Case(
        "prompt login, done elsewhere",
        [FRESH],
        ask(SignInPage.PASSWORD, "Ann"),
        {"prompt": ["login"]},
    ),
    Case("prompt consent", [ANN], Continue(ANN), {"prompt": ["consent"]}),
    Case("select_account", [ANN], ACCOUNTS, {"prompt": ["select_account"]}),
    Case("select_account, nobody", [], NAME, {"prompt": ["select_account"]}),
    Case(
        "select_account, picked",
        [ANN, BOB],
        Continue(BOB),
        {"prompt": ["select_account"], "session_id": "session-bob"},
    ),
    Case(
        "select_account and login, picked",
        [ANN, BOB],
        ask(SignInPage.PASSWORD, "Bob"),
        {"prompt": ["select_account", "login"], "session_id": "session-bob"},
    ),
    # max_age
    Case("max_age not reached", [ANN], Continue(ANN), {"max_age": 60}),
    Case("max_age passed", [ANN], ask(SignInPage.PASSWORD, "Ann"), {"max_age": 59}),
    Case("max_age 0", [ANN], ask(SignInPage.PASSWORD, "Ann"), {"max_age": 0}),
    Case("max_age 0, done here", [ANN], Continue(ANN), {"max_age": 0} | DONE_HERE),
    Case(
        "max_age beyond the ten days",
        [OLD],
        ask(SignInPage.PASSWORD, "Ann"),
        {"max_age": 99 * DAY},
    ),
    # hints
    Case("hinted user", [ANN, BOB], Continue(BOB), {"hinted_user_id": "id-bob"}),
    Case("hinted user is not here", [ANN], NAME, {"hinted_user_id": "id-bob"}),
    Case(
        "another than the hinted user signed in",
        [FRESH],
        Refuse(LoginRequired()),
        {"hinted_user_id": "id-bob", "session_id": "session-ann"},
    ),
    Case("login_hint", [ANN, BOB], Continue(ANN), {"login_hint": " ANN "}),
    Case("login_hint in letters", [ANN, BOB], Continue(ANN), {"login_hint": "ann@bücher.example"}),
    Case(
        "login_hint in ASCII",
        [ANN, BOB],
        Continue(ANN),
        {"login_hint": "Ann@XN--bcher-kva.example"},
    ),
    Case("login_hint by mail", [ANN, BOB], Continue(BOB), {"login_hint": "bob@mail.example"}),
    Case("login_hint of nobody here", [ANN], ACCOUNTS, {"login_hint": "eve"}),
    Case(
        "the token's hint counts more",
        [ANN, BOB],
        Continue(BOB),
        {
            "hinted_user_id": "id-bob",
            "login_hint": "ann",
        },
    ),
    # what was done on the pages
    Case("a name was typed", [ANN], ask(SignInPage.PASSWORD, "eve"), {"login_name": "eve"}),
    Case("the session ended meanwhile", [ANN], ACCOUNTS, {"session_id": "session-bob"}),
    Case("the last session ended meanwhile", [], NAME, {"session_id": "session-bob"}),
    # opening an account
    Case("create, nobody", [], ask(SignInPage.REGISTER), {"prompt": ["create"]}),
    Case("create, one is signed in", [ANN], ask(SignInPage.REGISTER), {"prompt": ["create"]}),
    Case(
        "create, two are signed in", [ANN, BOB], ask(SignInPage.REGISTER), {"prompt": ["create"]}
    ),
    Case("create and login", [ANN], ask(SignInPage.REGISTER), {"prompt": ["create", "login"]}),
    Case(
        "create, a name was typed",
        [],
        ask(SignInPage.PASSWORD, "eve"),
        {"prompt": ["create"], "login_name": "eve"},
    ),
    Case(
        "create, with a hint of somebody here",
        [ANN],
        ask(SignInPage.REGISTER),
        {"prompt": ["create"], "login_hint": "ann"},
    ),
    Case("create, done here", [ANN], Continue(ANN), {"prompt": ["create", "login"]} | DONE_HERE),
    Case("an account waits", [], ask(SignInPage.VERIFY_EMAIL), {"registration_id": "w"}),
    Case(
        "an account waits, two", [ANN, BOB], ask(SignInPage.VERIFY_EMAIL), {"registration_id": "w"}
    ),
    Case(
        "an account waits, and a name was typed",
        [],
        ask(SignInPage.PASSWORD, "eve"),
        {"registration_id": "w", "login_name": "eve"},
    ),
    Case(
        "an account waits, and a session was picked",
        [ANN, BOB],
        Continue(BOB),
        {"registration_id": "w", "session_id": "session-bob"},
    ),
    # prompt none
    Case("none, one", [ANN], Continue(ANN), {"prompt": ["none"]}),
    Case("none, nobody", [], Refuse(LoginRequired()), {"prompt": ["none"]}),
    Case("none, two", [ANN, BOB], Refuse(InteractionRequired()), {"prompt": ["none"]}),
    Case("none, too old", [OLD], Refuse(LoginRequired()), {"prompt": ["none"]}),
    Case("none, max_age", [ANN], Refuse(LoginRequired()), {"prompt": ["none"], "max_age": 1}),
    Case("none, max_age 0", [ANN], Refuse(LoginRequired()), {"prompt": ["none"], "max_age": 0}),
    Case(
        "none, hinted", [ANN, BOB], Continue(ANN), {"prompt": ["none"], "hinted_user_id": "id-ann"}
    ),
    Case(
        "none, another hinted",
        [ANN],
        Refuse(LoginRequired()),
        {"prompt": ["none"], "hinted_user_id": "id-bob"},
    ),
    Case("none, login_hint", [ANN, BOB], Continue(BOB), {"prompt": ["none"], "login_hint": "bob"}),
    Case(
        "none, login_hint of nobody here",
        [ANN],
        Refuse(LoginRequired()),
        {"prompt": ["none"], "login_hint": "eve"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.sentence for case in CASES])
def test_the_next_step_follows_from_request_sessions_and_time(case):
    step = decide(CONFIG, request(**case.asked), case.live, NOW)

    if isinstance(case.step, Refuse):
        assert isinstance(step, Refuse)
        assert type(step.error) is type(case.step.error)
    else:
        assert step == case.step


@pytest.mark.parametrize("case", [c for c in CASES if "none" in c.asked.get("prompt", [])])
def test_prompt_none_never_asks(case):
    assert not isinstance(decide(CONFIG, request(**case.asked), case.live, NOW), ShowPage)

"""Authorization requests that are answered by a page, and in which order (RFC 6749 4.1.2.1)."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest

from storage import Unavailable
from tests.support.browsers import wire
from tests.support.browsers.wire import FORM
from tests.support.store.stored import everything

PATH = "/oauth/v2/authorize"
EVIL = "https://evil.example/cb"

WRONG_IN_OTHER_WAYS = [
    {},
    {"response_type": None},
    {"response_type": "token"},
    {"response_type": "id_token"},
    {"response_mode": "form_post"},
    {"scope": None},
    {"scope": "profile"},
    {"request": "e30.e30."},
    {"request_uri": EVIL},
    {"code_challenge_method": "plain"},
    {"code_challenge": "short"},
    {"prompt": "none"},
    {"prompt": "none login"},
    {"prompt": "x"},
    {"max_age": "x"},
    {"nonce": "n" * 5000},
    {"id_token_hint": "x"},
    {"state": "\r\nX-Injected: 1"},
]


@pytest.fixture(autouse=True)
def signed_in(io_loop, server, visitor, demo):
    io_loop.run_sync(lambda: demo.tokens(visitor, *server.user))
    server.clock.advance(60)
    return visitor


async def refuse_all(server, visitor, pairs_of_each) -> None:
    """Every request is answered by the page alone, by GET and by POST, and nothing is stored."""
    before = await everything(server.store)
    for pairs in pairs_of_each:
        query = urlencode(pairs)
        got = await visitor.get(f"{PATH}?{query}")
        posted = await visitor.post(PATH, content=query, headers={"Content-Type": FORM})
        for page in (got, posted):
            assert (page.status, page.name) == (400, "explain"), pairs
            assert "Location" not in page.headers, pairs
            assert "Set-Cookie" not in page.headers, pairs
            assert "X-Injected" not in page.headers, pairs
    assert await everything(server.store) == before


CLIENTS = {
    "no client_id": None,
    "an empty client_id": "",
    "an unknown client_id": "u" * 22,
    "a client_id with NUL": "a\0b",
    "a client_id of 201": "c" * 201,
    "a client_id in other letters": "\u00e9\U0001f600",
}


@pytest.mark.full
@pytest.mark.promise(
    "service: preregistered", "authorization: client_id", "authorization: exact redirect_uri"
)
@pytest.mark.parametrize("client_id", CLIENTS.values(), ids=CLIENTS.keys())
async def test_an_unusable_client_is_refused_before_anything_else(
    server, visitor, demo, client_id
):
    forms = [demo.authorize_form(client_id=client_id, **more) for more in WRONG_IN_OTHER_WAYS]

    await refuse_all(server, visitor, forms)


@pytest.mark.promise("authorization: client_id")
async def test_an_inactive_client_is_refused_before_anything_else(server, visitor):
    client = await server.register(state="inactive")
    forms = [client.authorize_form(**more) for more in WRONG_IN_OTHER_WAYS]

    await refuse_all(server, visitor, forms)


@pytest.mark.promise(
    "service: preregistered",
    "authorization: redirect_uri",
    "authorization: error page",
    "authorization: exact redirect_uri",
)
@pytest.mark.parametrize("redirect_uri", [None, "", EVIL])
async def test_an_unusable_redirect_uri_is_refused_before_anything_else(
    server, visitor, demo, redirect_uri
):
    forms = [
        demo.authorize_form(redirect_uri=redirect_uri, **more) for more in WRONG_IN_OTHER_WAYS
    ]

    await refuse_all(server, visitor, forms)


@pytest.mark.parametrize("name", ["client_id", "redirect_uri", "state"])
@pytest.mark.parametrize("second", ["same", "other", "empty"])
async def test_a_repeated_client_redirect_uri_or_state_makes_a_page(
    server, visitor, demo, name, second
):
    form = demo.authorize_form()
    again = {"same": form[name], "other": EVIL, "empty": ""}[second]
    orders = [[*form.items(), (name, again)], [(name, again), *form.items()]]

    await refuse_all(server, visitor, orders)


REPEATABLE = {
    "response_type": "code",
    "response_mode": "query",
    "request": "x",
    "request_uri": "x",
    "scope": "openid",
    "code_challenge": "c",
    "code_challenge_method": "S256",
    "nonce": "n",
    "prompt": "none",
    "max_age": "1",
    "login_hint": "x",
    "id_token_hint": "x",
    "ui_locales": "de",
}


@pytest.mark.promise("authorization error: invalid_request")
@pytest.mark.full
@pytest.mark.parametrize("name", REPEATABLE)
@pytest.mark.parametrize("second", ["same", "other"])
async def test_any_other_repeated_parameter_goes_back_to_the_client(
    server, visitor, demo, name, second
):
    form = demo.authorize_form()
    form.setdefault(name, REPEATABLE[name])
    again = form[name] if second == "same" else "other"
    query = urlencode([*form.items(), (name, again)])
    before = await everything(server.store)
    got = await visitor.get(f"{PATH}?{query}")
    posted = await visitor.post(PATH, content=query, headers={"Content-Type": FORM})

    for page in (got, posted):
        assert page.location.startswith(demo.redirect_uri)
        assert page.answer["error"] == "invalid_request"
        assert page.answer["state"] == "state-1"
    assert await everything(server.store) == before


@pytest.mark.parametrize("name", ["state", "redirect_uri", "prompt"])
async def test_a_post_takes_no_parameter_from_its_address(server, visitor, demo, name):
    form = demo.authorize_form(prompt="none")
    value = form.pop(name)
    before = await everything(server.store)
    page = await visitor.post(f"{PATH}?{urlencode({name: value})}", form)

    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert await everything(server.store) == before


BODIES = {
    "no content type": (None, "form"),
    "JSON": ("application/json", "{}"),
    "text": ("text/plain", "form"),
    "multipart": ("multipart/form-data; boundary=x", "--x--"),
    "UTF-16": (f"{FORM}; charset=utf-16", "client_id=x".encode("utf-16")),
    "a longer name": (f"{FORM}-x", "form"),
    "two types": (f"{FORM}, {FORM}", "form"),
    "nothing": (FORM, ""),
    "a percent sign alone": (FORM, "client_id=%"),
    "half an octet": (FORM, "client_id=%4"),
    "not hexadecimal": (FORM, "client_id=%zz"),
    "not UTF-8": (FORM, "client_id=%ff"),
    "a surrogate": (FORM, "client_id=%ed%a0%80"),
    "raw octets": (FORM, b"client_id=\xff\xfe"),
    "a byte order mark": (FORM, b"\xef\xbb\xbfclient_id=x"),
    "gzip": (FORM, b"\x1f\x8b\x08\x00"),
    "semicolons": (FORM, "client_id=x;redirect_uri=y"),
    "101 parameters": (FORM, "&".join(f"p{n}=1" for n in range(101))),
    "a million of them": (FORM, "a&" * 30_000),
    "only separators": (FORM, "&&&==&"),
}


@pytest.mark.full
@pytest.mark.parametrize(("kind", "body"), BODIES.values(), ids=BODIES.keys())
async def test_a_body_that_is_no_form_makes_a_page(server, visitor, demo, kind, body):
    content = urlencode(demo.authorize_form()) if body == "form" else body
    headers = {"Content-Type": kind} if kind else {}
    before = await everything(server.store)
    page = await visitor.post(PATH, content=content, headers=headers)

    assert (page.status, page.name, page.location) == (400, "explain", None)
    assert await everything(server.store) == before


@pytest.mark.parametrize(
    "kind",
    [
        FORM.upper(),
        f"{FORM};charset=UTF-8",
        f'{FORM}; charset="utf-8"',
        f"{FORM}; charset=ISO-8859-1",
    ],
)
async def test_a_form_may_name_its_charset(visitor, demo, kind):
    body = urlencode(demo.authorize_form())
    page = await visitor.post(PATH, content=body, headers={"Content-Type": kind})

    assert page.status == 303


QUERIES = [
    b"client_id=%",
    b"client_id=%ff",
    b"client_id=\xff",
    b"client_id=\xc3\x28",
    b"client_id=a%00b",
    b"client_id[$ne]=",
    b"client_id[]=x",
    b"?client_id=x",
    b"#client_id=x",
    b"=",
    b"&&&",
    b"client_id=x;redirect_uri=y",
    b"a&" * 200,
]


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_of_hostile_bytes_makes_a_page(server, query):
    before = await everything(server.store)
    answer = await wire.get(server, PATH.encode() + b"?" + query)

    assert answer.status_code == 400
    assert 'data-page="explain"' in answer.text
    assert "Location" not in answer.headers
    assert await everything(server.store) == before


async def test_matrix_parameters_in_the_path_are_no_parameters(server, demo):
    path = f"{PATH};{urlencode(demo.authorize_form())}".encode()

    assert (await wire.get(server, path)).status_code == 404


async def test_a_body_beyond_64_kb_is_refused_by_413(server, visitor, demo):
    before = await everything(server.store)
    body = urlencode(demo.authorize_form(unknown="u" * 70_000))
    page = await visitor.post(PATH, content=body, headers={"Content-Type": FORM})

    assert (page.status, page.location) == (413, None)
    assert await everything(server.store) == before


async def test_a_body_that_hides_its_length_is_refused_by_413(server, visitor):
    async def pieces():
        for _ in range(70):
            yield b"a" * 1024

    page = await visitor.post(PATH, content=pieces(), headers={"Content-Type": FORM})

    assert (page.status, page.location) == (413, None)


async def test_a_head_beyond_16_kb_is_refused_by_431(server, visitor, demo):
    before = await everything(server.store)
    long_query = await visitor.get(demo.authorize_url(unknown="u" * 17_000))
    long_header = await visitor.get(demo.authorize_url(), headers={"X-Long": "h" * 17_000})

    assert (long_query.status, long_query.location) == (431, None)
    assert (long_header.status, long_header.location) == (431, None)
    assert await everything(server.store) == before


async def test_what_was_sent_is_shown_without_becoming_markup(visitor, demo):
    canary = '"><svg/onload=alert(1)>${7*7}{{7*7}}'
    page = await visitor.get(demo.authorize_url(redirect_uri=canary))

    assert page.status == 400
    assert "<svg/" not in page.text
    assert "&lt;svg" in page.text
    assert "redirect_uri" in page.text


@pytest.mark.promise("authorization: error page")
async def test_a_store_that_does_not_answer_never_sends_to_an_unproven_address(
    server, visitor, demo, monkeypatch
):
    async def fail(*_, **__):
        raise Unavailable("no primary")

    visitor.may_fail = True
    monkeypatch.setattr(server.store, "get", fail)
    page = await visitor.get(demo.authorize_url())

    assert (page.status, page.location) == (503, None)
    assert page.headers["Retry-After"]
    assert urlsplit(page.url).path == PATH

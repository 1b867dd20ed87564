"""Whatever is typed into the console comes back as text, and does nothing."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.support.management import console
from tests.support.pages.rendered import Page

PAYLOADS = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "'><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</select><script>alert(1)</script>",
    "--><script>alert(1)</script>",
    "${7*7}<%text>",
    "{{7*7}}%(n)s%",
    '" autofocus onfocus=alert(1) x="',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "'; rm -rf / #$(reboot)`id`",
]
TAGS = {"script", "svg", "img"}


def active(html):
    """The elements of a page that could do something, and the handlers of events."""
    page = Page(html)
    assert (page.mistakes, page.open) == ([], [])
    does = [element for element in page.elements for name in element if name.startswith("on")]
    tags = [
        element["tag"]
        for element in page.elements
        if element["tag"] in TAGS and element.get("class") != "icon"  # of the page itself
    ]
    return tags, does


@pytest.mark.full
async def test_what_is_searched_for_comes_back_as_text(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/users?text=harmless")
    expected = active(page.text)

    for payload in PAYLOADS:
        for path in ("users?text=", "users?by=", "organizations?name=", "users?done="):
            page = await visitor.get(f"/ui/console/{path}{quote(payload)}")

            assert page.status in (200, 400)
            assert active(page.text) == expected, payload
            assert "49" not in page.text.partition("<main")[2].partition("</form>")[0]


@pytest.mark.full
async def test_what_is_refused_or_stored_comes_back_as_text(server, visitor):
    page = await console.admin(server, visitor, "/ui/console/users/new")
    expected = active(page.text)
    names = ("profile.givenName", "profile.familyName", "profile.nickName")

    for n, payload in enumerate(PAYLOADS):
        form = await visitor.open("/ui/console/users/new")
        filled = {**dict.fromkeys(names, payload), "metadata": f"{payload}={payload}"}
        refused = await visitor.submit(form, **filled, **{"email.email": payload})
        made = await visitor.submit(refused, **filled, **{"email.email": f"m{n}@acme.example"})

        assert (refused.status, made.status) == (400, 200)
        assert active(refused.text) == active(made.text) == expected, payload
        here = made.url.partition("?")[0]
        for path in ("/edit", "/delete", "/metadata/new"):
            assert active((await visitor.open(here + path)).text) == expected, payload
    assert active((await visitor.open("/ui/console/users")).text) == expected


async def test_lines_for_a_shell_are_quoted_for_it(server, visitor):
    form = await console.admin(server, visitor, "/ui/console/users/new")

    refused = await visitor.submit(
        form,
        **{
            "profile.givenName": "O'Neill $(reboot)",
            "profile.familyName": " ",
            "email.email": "m@acme.example",
            "password.password": "a secret that nobody may see",
        },
    )

    curl = refused.text.partition("curl \\")[2].partition("</code>")[0]
    assert "O&#39;&#34;&#39;&#34;&#39;Neill $(reboot)" in curl
    assert "a secret that nobody may see" not in refused.text
    assert "Bearer $TOKEN" in curl

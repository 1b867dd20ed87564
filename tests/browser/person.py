"""Somebody at a browser: goes to addresses, fills fields, presses what a button's text says."""

from __future__ import annotations

import re

import pytest

from idp.foundation import i18n

ENOUGH_MS = 10_000
WAYS = [
    pytest.param(True, id="with scripts"),
    pytest.param(False, id="without scripts", marks=pytest.mark.load),
]
# For what is another thing without scripts.
in_both_ways = pytest.mark.parametrize(
    "person", [True, False], indirect=True, ids=["with scripts", "without scripts"]
)


class Person:
    """One browser. `name` is the data-page of what it shows, `status` that of its last answer.

    A person with another `locale` is told what to press in English all the same. Nothing moves:
    a colour that is measured during a transition is neither the one before nor the one after.
    """

    def __init__(self, chromium, program, *, scripts=True, **options):
        self.program, self.has_scripts = program, scripts
        self.language = options.get("locale", i18n.SOURCE)
        self.status = None
        self.context = chromium.new_context(
            java_script_enabled=scripts, reduced_motion="reduce", **options
        )
        self.context.set_default_timeout(ENOUGH_MS)
        self.page = self.context.new_page()
        self.complaints = []
        self.page.on("console", self._hear)
        self.page.on("response", self._see)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def _hear(self, message):
        words = ("Content Security Policy", "Content-Security-Policy", "Refused to", "violates")
        if any(word in message.text for word in words):
            self.complaints.append(message.text)

    def _see(self, response):
        if response.request.is_navigation_request():
            self.status = response.status

    def go(self, path, base=None):
        return self.page.goto((base or self.program.issuer) + path)

    @property
    def name(self):
        return self.page.locator("body").get_attribute("data-page")

    @property
    def text(self):
        return self.page.locator("main").inner_text()

    def fill(self, **fields):
        for name, value in fields.items():
            self.page.fill(f"input[name={name}]", value)

    def wait_for_focus(self, field):
        """Chromium moves the focus to a field with `autofocus` some time after the page is
        loaded."""
        self.page.locator(f"input[name={field}]:focus").wait_for()

    def press(self, text):
        """Press the button or link with this text, and wait for the page it leads to."""
        buttons_and_links = self.page.locator("button, a")
        self.follow(buttons_and_links.filter(has_text=self._in_own_language(text)).first)

    def follow(self, link):
        """Press a button or link, within a menu if it is in one that is closed."""
        menu = link.locator("xpath=ancestor::details[not(@open)]/summary")
        if menu.count():
            menu.click()
        with self.page.expect_navigation():
            link.click()

    def choose_language(self, tag):
        """Choose the language in the page's menu, which is a list of links."""
        self.page.locator("details.menu summary").click()
        with self.page.expect_navigation():
            self.page.locator(f"a[hreflang={tag}]").click()

    def _in_own_language(self, text):
        """What this text says, on whichever page it stands."""
        texts = i18n.load(self.language)._texts
        said = [forms[0] for (_, msgid), forms in texts.items() if msgid == text]
        return re.compile("|".join(map(re.escape, said or [text])))

    def sign_in(self, login_name, password):
        """From the login name's page on."""
        self.fill(loginName=login_name)
        self.press("Continue")
        self.fill(password=password)
        self.press("Sign in")

    def sign_in_to_demo(self, *who, prompt=""):
        self.go("/demo/sign-in" + (f"?prompt={prompt}" if prompt else ""))
        if self.name == "accounts":
            self.press("Use another account")
        self.sign_in(*(who or self.program.user))
        assert self.name == "demo", self.text

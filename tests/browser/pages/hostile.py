"""A service whose every name is an attack, its visitors, and what must not be on their pages."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.browser import states
from tests.browser.chromium import FLAGS, executable
from tests.browser.person import Person
from tests.screens.stage import CHOSEN_PASSWORD, Stage
from tests.support.attacks.payloads import NAMES, PARAMETERS, packed
from tests.support.protocol.relying_party import RelyingParty

MARKS = ("Qapp", "Qproject", "Qorganization", "Qgiven", "Qfamily", "Qshown", "Qnick")
GROUPS = packed(180)
EVERYTHING = " ".join([*NAMES, *PARAMETERS])
ASKING = {
    "state": EVERYTHING[-1500:],
    "nonce": GROUPS[2],
    "ui_locales": f"x {EVERYTHING[:400]}",
    "acr_values": f"x {GROUPS[0]}",
}
# Where names of these kinds are asked for by the states of pages.
_NAMED = ("name", "givenName", "familyName")
# Those of whom a state tells in its own frames and applications; nothing of them is fetched.
_STRANGERS = ("trips.example", "wiki.example.com", "login.example.com")

# What a payload has made of the page, if anything.
MADE = """() => {
    const found = [];
    for (const each of document.querySelectorAll("*")) {
        const tag = each.localName;
        const isForeign = each.matches(
            "iframe:not([sandbox]), object, embed, base, math, style, frameset, b");
        if (isForeign || (tag === "script" && !each.src)) found.push(each.outerHTML);
        for (const { name, value } of each.attributes) {
            const isActive = /^on|^(srcdoc|canary|http-equiv|ping)$/.test(name);
            const leads = ["href", "src", "action", "formaction"].includes(name)
                && !each.matches(".qr, [download]")
                // Links to this service, with a query: those of the languages and to a file.
                && !/^[?]|^[/](?![/\\\\])/.test(value)
                && /^\\s*(javascript|data|vbscript):|x\\.invalid|^x$/i.test(value);
            if (isActive || leads) found.push(`${tag} ${name}=${value}`);
        }
    }
    return found;
}"""
# All that the page says, without what is quoted for a shell or an address.
SAID = """() => {
    const copy = document.documentElement.cloneNode(true);
    copy.querySelectorAll("pre").forEach((each) => each.remove());
    const said = [copy.textContent];
    for (const each of copy.querySelectorAll("input:not([type=hidden]), [alt], [title]"))
        said.push(each.value ?? "", each.alt ?? "", each.title ?? "");
    return said.join("\\n");
}"""


@dataclass
class Party(RelyingParty):
    """An application whose wishes are attacks, but for those that are made explicitly."""

    def authorize_form(self, **changes) -> dict:
        asked = super().authorize_form(**ASKING | changes)
        if changes.get("response_mode") == "form_post":  # no form carries line ends as they are
            asked["state"] = " ".join(NAMES)
        return asked


class Visitor(Person):
    """A person who comes by such an application. `elsewhere` are the addresses that their pages
    have asked for, of others."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.elsewhere = []
        is_known = options.get("storage_state") is not None
        self._hint = {} if is_known else {"login_hint": GROUPS[1]}
        self.page.on("request", self._note)

    def _note(self, request):
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https") and parts.hostname not in ("localhost", *_STRANGERS):
            self.elsewhere.append(request.url)

    def go(self, path, base=None):
        if path.partition("?")[0] == "/demo/sign-in":
            wishes = self._hint | dict(parse_qsl(path.partition("?")[2]))
            return self.page.goto(self.program.demo().authorize_url(**wishes))
        return super().go(path, base)


class World:
    """A running service, and the browsers that visit it."""

    def __init__(self, chromium, program, api):
        self.chromium, self.program, self._api = chromium, program, api
        self._plain_demo, program.demo = program.demo, self._demo
        self._cookies, self._made = {}, itertools.count()
        project = self._ask("POST", "/management/v1/projects/_search")["result"][0]["id"]
        users = self._ask("POST", "/v2/users")["result"]
        self._users = [user["userId"] for user in users if "human" in user]
        client_id = self._plain_demo().client_id
        self._project = f"/management/v1/projects/{project}"
        self._app = f"{self._project}/apps/{client_id}"
        self._signed_in(states.ADMIN)  # while the first password counts

    def _demo(self):
        return Party(**vars(self._plain_demo()))

    def _ask(self, method, path, **body):
        answer = self._api.request(method, path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def rename(self, n):
        """Call everything by the n-th group of payloads, each name with a mark of its own."""
        names = [f"{mark} {GROUPS[n]}" for mark in MARKS]
        app, project, organization, given, family, shown, nick = names
        self._ask("PUT", self._app, name=app)
        self._ask("PUT", self._project, name=project)
        self._ask("PUT", "/management/v1/orgs/me", name=organization)
        profile = {"givenName": given, "familyName": family, "displayName": shown}
        for user in self._users:
            self._ask("PUT", f"/v2/users/human/{user}", profile=profile | {"nickName": nick})

    def visitor(self, who):
        return Visitor(self.chromium, self.program, storage_state=self._signed_in(who))

    def wait(self):
        """Mistakes are forgotten in time, and who was signed in comes back."""
        self.program.clock.advance(300)
        self._cookies.clear()
        vars(self.program).pop("passkey_owner", None)

    def held_mail(self):
        """The letters, as they are held."""
        return self._ask("GET", "/dev/mail")["result"]

    def _signed_in(self, who):
        """The cookies of a browser where so many people are signed in, or the administrator."""
        if who not in self._cookies:
            self._cookies[who] = self._sign_in(who)
        return self._cookies[who]

    def _sign_in(self, who):
        if who == states.NOBODY:
            return None
        person, admin = Person(self.chromium, self.program), self.program.announcement["admin"]
        if who in (states.ONE, states.TWO):
            person.sign_in_to_demo()
        if who in (states.TWO, states.ADMIN):
            person.go("/demo/sign-in?prompt=select_account")
            if person.name == "accounts":
                person.press("Use another account")
            person.sign_in(admin["loginName"], admin["password"])
        if person.name == "change-password":
            person.fill(newPassword=CHOSEN_PASSWORD)
            person.press("Save the new password")
            admin["password"] = CHOSEN_PASSWORD
        found = person.context.storage_state()
        person.context.close()
        return found

    def as_admin(self, program, path, **body):
        """What the states make by the management API gets such names too."""
        return _as_admin(program, path, **self._hostile(body))

    def _hostile(self, value):
        if not isinstance(value, dict):
            return value
        spoilt = f" {GROUPS[next(self._made) % len(GROUPS)][:150]}"
        return {
            name: each + spoilt
            if name in _NAMED and isinstance(each, str)
            else self._hostile(each)
            for name, each in value.items()
        }


_as_admin = states.as_admin


@contextmanager
def world(chromium):
    """Such a service, and a browser of this kind that finds nothing else."""
    with Stage() as stage, stage.program() as program:
        headers = {
            "Host": urlsplit(program.issuer).netloc,
            "Authorization": f"Bearer {program.announcement['adminPat']}",
            "Accept": "application/json",
        }
        flags = [*FLAGS, stage.flag]
        browser = chromium.browser_type.launch(executable_path=executable(), args=flags)
        with httpx.Client(base_url=program.listens_at, headers=headers) as api:
            yield World(browser, program, api)
        browser.close()

"""The base of every page of a person's own account: who is there, and the page's frame."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from handlers.account import texts
from handlers.account.sections import ACCOUNT, SECTIONS, AccountSection
from handlers.forms import console_session, refusals
from handlers.pages.signed_in_page import OwnPageHandler, SignedIn
from idp.foundation import uris
from idp.foundation.errors import IdpError, NotFound
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import permissions
from idp.management import call as management_call
from idp.management.call import Call
from idp.oauth.params import Params
from idp.oauth.paths import END_SESSION
from idp.oauth.sign_in import first_party_areas
from storage import Stale

RECENT_SECONDS: Final = 600  # how long ago somebody proved who they are, for what is delicate
_CANCEL: Final = "cancel"


class AccountHandler(OwnPageHandler):
    """A page of the account of whoever is signed in. Subclasses have `show`, and `submit` if it
    has a form.

    `section` is the part of the navigation that the page belongs to, and where Cancel leads. With
    `is_sensitive` nobody gets in who did not prove within the last minutes who they are; a page
    that asks for this only sometimes has `recent`.
    """

    area = first_party_areas.ACCOUNT
    section: ClassVar[str] = "overview"
    is_sensitive: ClassVar[bool] = False
    person: SignedIn
    is_entered = False
    console_url: str | None = None

    async def get(self, *ids: str) -> None:
        if await self._enter():
            await self.show(*ids)

    async def post(self, *ids: str) -> None:
        if not await self._enter():
            return
        form = self.page_form(self._form_subject, self.person.agent)
        if form.get("decision") == _CANCEL:
            self.see(self.way_back)
            return
        try:
            await self.submit(form, *ids)
        except Stale:  # another change or a logout at the same moment
            self.see(self.request.uri or self.way_back)

    async def show(self, *ids: str) -> None:
        """Answer a GET."""
        raise NotImplementedError

    async def submit(self, form: Params, *ids: str) -> None:
        """Answer the page's form. Raises IdpError, and Stale: then the page is shown anew."""
        raise NotFound("this page has no form")

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """A part of the address; one that isn't UTF-8 names nothing, as any that is unknown."""
        return value.decode("utf-8", "replace")

    # Who is there

    async def _enter(self) -> bool:
        """Let the person in; the answer is given already where that can't be."""
        found = await self.find_person()
        if found is None:
            return False
        self.person = found
        if self.is_sensitive and not await self.recent():
            return False
        await session_lifetime.touch(self.service, found.session)
        await self.show_organization(found.user.org_id)
        if console_session.manages(await permissions.of_user(self.service, found.user.id)):
            self.console_url = first_party_areas.CONSOLE.path
        self.is_entered = True
        return True

    async def recent(self) -> bool:
        """Whether they proved a moment ago who they are; if not, the answer is given already: a
        sign-in of theirs that comes back to this page."""
        return await self.is_recent(self.person, RECENT_SECONDS)

    def call(self, if_match: int | None = None) -> Call:
        """What the functions behind the management API take: these people's own call."""
        return management_call.of_themselves(self.person.user, if_match)

    # Forms and ways

    @property
    def _form_subject(self) -> str:
        return f"{self.person.session.id}\n{self.request.path}"

    def form_inputs(self, **more: str) -> list[tuple[str, str]]:
        """The hidden inputs of this page's form: it counts in this browser, for this session and
        at this address."""
        return [*self.form_token(self._form_subject, self.person.agent), *more.items()]

    @property
    def way_back(self) -> str:
        """The first page of this part of the account."""
        return SECTIONS[self.section].path

    def done(self, what: str, path: str | None = None) -> None:
        """Lead on, to a page that says that it was done (`texts.DONE`)."""
        self.see(uris.with_parameters(path or self.way_back, [("done", what)]))

    # Pages

    def page(self, name: str, *, status: int = 200, **values: object) -> None:
        if self.is_entered:
            done = texts.DONE.get(self.query_params().if_once("done") or "")
            is_news = self.request.method == "GET"  # a form that came back has other news
            values = {"area": self._frame(), "notice": done if is_news else None, **values}
        super().page(name, status=status, **values)

    def _frame(self) -> dict[str, object]:
        """What stands around the page."""
        user = self.person.user
        return {
            "sections": [self._in_navigation(*each) for each in SECTIONS.items()],
            "person": user.profile.display_name,
            "login_name": user.user_name,
            "change_url": f"{ACCOUNT}/choose",
            "console_url": self.console_url,
            "logout_url": END_SESSION,
        }

    def _in_navigation(self, name: str, section: AccountSection) -> dict[str, object]:
        return {
            "label": section.label,
            "url": section.path,
            "is_current": name == self.section,
        }

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        cause = kwargs.get("exc_info", (None, None))[1]
        refusal = refusals.of(cause) if isinstance(cause, IdpError) else None
        if refusal is None:
            super().write_error(status_code, **kwargs)
            return
        ways = {"here": self.request.uri or ACCOUNT, "home": ACCOUNT}
        said = texts.REFUSED.get(refusal.status, refusal.sentence)
        values = refusal.values(ways) | {"sentence": said}
        self.page("account/message", status=refusal.status, **values)


class ChooseHandler(OwnPageHandler):
    """Another of the people in this browser is chosen, or somebody else signs in."""

    area = first_party_areas.ACCOUNT

    async def get(self) -> None:
        agent = await self.find_agent()
        await self.sign_in(agent, ACCOUNT, prompt=("select_account",))


ROUTES = [(f"{ACCOUNT}/choose", ChooseHandler)]

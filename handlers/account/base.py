"""The base of the account pages: the signed-in person, the navigation, and forms."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from handlers.account import texts
from handlers.account.sections import ACCOUNT, SECTIONS, AccountSection
from handlers.forms import console_session, refusals
from handlers.pages import signed_in_page
from handlers.pages.base import PageHandler
from handlers.pages.signed_in_page import SignedIn
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

RECENT_SECONDS: Final = 600  # the longest time since the person authenticated, for sensitive pages
_CANCEL: Final = "cancel"


class AccountHandler(PageHandler):
    """A page of the signed-in person's account. Subclasses implement `show`, and `submit` if the
    page has a form.

    `section` is the part of the navigation that the page belongs to; the button Cancel opens its
    first page.
    With `is_sensitive` the person must have authenticated within `RECENT_SECONDS`; a page that
    requires this only in some cases calls `require_recent_sign_in`.
    """

    section: ClassVar[str] = "overview"
    is_sensitive: ClassVar[bool] = False
    person: SignedIn
    is_entered = False
    console_url: str | None = None

    async def get(self, *ids: str) -> None:
        await self._enter()
        await self.show(*ids)

    async def post(self, *ids: str) -> None:
        await self._enter()
        form = self.page_form(self._form_subject, self.person.browser)
        if form.get("decision") == _CANCEL:
            self.redirect_303(self.section_url)
            return
        try:
            await self.submit(form, *ids)
        except Stale:  # a concurrent change or logout
            self.redirect_303(self.request.uri or self.section_url)

    async def show(self, *ids: str) -> None:
        """Sends the page for a GET. `ids` are the ids in its path."""
        raise NotImplementedError

    async def submit(self, form: Params, *ids: str) -> None:
        """Processes the page's submitted form. Raises IdpError, and Stale after a concurrent
        change, on which the page is displayed again."""
        raise NotFound("this page has no form")

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """Decodes one part of the path. Invalid UTF-8 is replaced by U+FFFD, so that the request
        is answered like one for an unknown name."""
        return value.decode("utf-8", "replace")

    # The signed-in person

    async def _enter(self) -> None:
        """Admits the person. Raises ResponseSent after a redirect to a sign-in."""
        self.person = await signed_in_page.find_person(self, first_party_areas.ACCOUNT)
        if self.is_sensitive:
            await self.require_recent_sign_in()
        user = self.person.user
        await session_lifetime.touch(self.service, self.person.session)
        await self.show_organization(user.org_id)
        # The console has no pages for other persons.
        if console_session.may_open_console(await permissions.of_user(self.service, user.id)):
            self.console_url = first_party_areas.CONSOLE.path
        self.is_entered = True

    async def require_recent_sign_in(self) -> None:
        """Checks that the person authenticated within `RECENT_SECONDS`. If not, redirects to a
        sign-in that returns to this page, and raises ResponseSent."""
        await signed_in_page.require_recent(
            self, first_party_areas.ACCOUNT, self.person, RECENT_SECONDS
        )

    def call(self, if_match: int | None = None) -> Call:
        """Returns a call of the management API that a person makes about their own account.
        `if_match` is the record version that the call requires, or None."""
        return management_call.of_themselves(self.person.user, if_match)

    # Forms and addresses

    @property
    def _form_subject(self) -> str:
        # With the path, a form of one page is not accepted by another.
        return f"{self.person.session.id}\n{self.request.path}"

    def form_inputs(self, **values: str) -> list[tuple[str, str]]:
        """Returns the hidden inputs of this page's form: its token and `values`. The token is
        valid only in this browser, for this session and at this address."""
        return [*self.form_token(self._form_subject, self.person.browser), *values.items()]

    @property
    def section_url(self) -> str:
        """The address of the first page of this section."""
        return SECTIONS[self.section].path

    def redirect_with_notice(self, confirmation: str, path: str | None = None) -> None:
        """Redirects to `path`, by default to `section_url`. The page there displays the
        confirmation `confirmation`, a key of `texts.CONFIRMATIONS`."""
        self.redirect_303(uris.with_parameters(path or self.section_url, [("done", confirmation)]))

    # Pages

    def page(self, name: str, *, status: int = 200, **values: object) -> None:
        if self.is_entered:
            notice = texts.CONFIRMATIONS.get(self.query_params().if_once("done") or "")
            if self.request.method != "GET":  # a form that is displayed again has its own texts
                notice = None
            values = {"area": self._frame(), "notice": notice, **values}
        super().page(name, status=status, **values)

    def _frame(self) -> dict[str, object]:
        """Returns the values of the navigation and the header."""
        user = self.person.user
        return {
            "sections": [self._navigation_entry(*entry) for entry in SECTIONS.items()],
            "person": user.profile.display_name,
            "login_name": user.user_name,
            "change_url": f"{ACCOUNT}/choose",
            "console_url": self.console_url,
            "logout_url": END_SESSION,
        }

    def _navigation_entry(self, name: str, section: AccountSection) -> dict[str, object]:
        return {
            "label": section.label,
            "icon": section.icon,
            "url": section.path,
            "is_current": name == self.section,
        }

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        cause = kwargs.get("exc_info", (None, None))[1]
        refusal = refusals.of(cause) if isinstance(cause, IdpError) else None
        if refusal is None:
            super().write_error(status_code, **kwargs)
            return
        addresses = {"here": self.request.uri or ACCOUNT, "home": ACCOUNT}
        sentence = texts.REFUSALS.get(refusal.status, refusal.sentence)
        values = refusal.values(addresses) | {"sentence": sentence}
        self.page("account/message", status=refusal.status, **values)


class ChooseHandler(PageHandler):
    """Redirects to the account chooser, where another account can be chosen or signed in."""

    async def get(self) -> None:
        await signed_in_page.sign_in(
            self,
            first_party_areas.ACCOUNT,
            await self.find_browser(),
            ACCOUNT,
            prompt=("select_account",),
        )


ROUTES = [(f"{ACCOUNT}/choose", ChooseHandler)]

"""The base of the console's pages: signed-in person, permissions, organization, navigation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final
from urllib.parse import quote, urlencode

from msgspec import Struct

from handlers.console import commands, notices
from handlers.console.sections import CONSOLE, SEARCH, SECTIONS, ConsoleSection, open_to
from handlers.forms import refusals
from handlers.forms.console_session import ConsoleSession
from handlers.forms.run_operation import Document, OperationRun, run
from handlers.http.base import ResponseSent
from handlers.pages import signed_in_page
from handlers.pages.base import PageHandler
from idp.api.operation import Operation
from idp.foundation.errors import IdpError, NotFound, PermissionDenied
from idp.foundation.i18n import Message, message
from idp.identity.sessions import lifetime as session_lifetime
from idp.identity.users import permissions
from idp.limits.admission import MANAGEMENT
from idp.oauth.params import Params
from idp.oauth.paths import END_SESSION
from idp.oauth.sign_in import first_party_areas
from idp.records import ORGANIZATIONS, Organization
from storage import MAX_ID_CHARACTERS

# The longest time since the person authenticated, for pages about the installation.
RECENT_SECONDS: Final = 3600
# A form that was opened in time can be sent for this multiple of RECENT_SECONDS.
_FORM_RECENT_FACTOR: Final = 2
_NO_ORGANIZATION_TITLE: Final = message("You aren't an administrator", context="console")
_NO_ORGANIZATION: Final = message(
    "You're signed in, but you don't manage any organization. Ask an "
    "administrator to add you as a member.",
    context="console",
)


class Breadcrumb(Struct, frozen=True):
    """A page above the current one: its name and its address."""

    name: Message | str
    url: str


class ConsoleHandler(PageHandler):
    """A page of the console. Subclasses implement `show`, and `submit` if the page has a form.

    `section` is the part of the navigation that the page belongs to. With
    `requires_recent_authentication`, the person must have authenticated within `RECENT_SECONDS`.
    """

    group = MANAGEMENT
    section = "overview"
    requires_recent_authentication = False
    console_session: ConsoleSession
    is_entered = False
    organization: Organization | None = None

    async def get(self, *ids: str) -> None:
        await self._enter(RECENT_SECONDS)
        await self.show(*ids)

    async def post(self, *ids: str) -> None:
        await self._enter(_FORM_RECENT_FACTOR * RECENT_SECONDS)
        form = self.page_form(self._form_subject, self.console_session.browser)
        await self.submit(form, *ids)

    async def show(self, *ids: str) -> None:
        """Sends the page for a GET. `ids` are the ids in its path."""
        raise NotImplementedError

    async def submit(self, form: Params, *ids: str) -> None:
        """Processes the page's submitted form."""
        raise NotFound("this page has no form")

    def decode_argument(self, value: bytes, name: str | None = None) -> str:
        """Decodes one part of the path. Invalid UTF-8 is replaced by U+FFFD, so that the request
        is answered like one for an unknown name."""
        return value.decode("utf-8", "replace")

    # The signed-in person

    async def _enter(self, recent_seconds: int) -> None:
        """Admits the person. Raises ResponseSent if they are redirected to a sign-in or manage no
        organization, and PermissionDenied if they may not see this page."""
        area = first_party_areas.CONSOLE
        person = await signed_in_page.find_person(self, area)
        if self.requires_recent_authentication:
            await signed_in_page.require_recent(self, area, person, recent_seconds)
        await session_lifetime.touch(self.service, person.session)
        rights = await permissions.of_user(self.service, person.user.id)
        self.console_session = ConsoleSession(
            person.browser, person.live_session, person.has_other_sessions, rights
        )
        self.is_entered = True
        if not self.console_session.may_open_console:
            self._show_without_rights()
            raise ResponseSent
        if self.section not in open_to(self.console_session.rights):
            raise PermissionDenied("the person may not see this part of the console")
        await self._enter_organization(self.named_org_id or self.console_session.default_org_id)

    def _show_without_rights(self) -> None:
        self.page(
            "console/message",
            status=403,
            title_text=_NO_ORGANIZATION_TITLE,
            sentence=_NO_ORGANIZATION,
            detail=None,
            buttons=[(message("Choose another account", context="console"), f"{CONSOLE}/account")]
            if self.console_session.has_other_sessions
            else [],
        )

    # Operations

    async def run(
        self,
        operation: Operation,
        *ids: str,
        document: Document | None = None,
        org_id: str | None = "",
        if_match: int | None = None,
        idempotency_key: str | None = None,
    ) -> Document:
        """Runs an operation of the API for this person and returns its answer. `ids` are the
        values of the path parameters, and `document` is the body.

        `org_id` is the organization of the call: an empty text means the current one, None that
        the call has none. `if_match` and `idempotency_key` are the headers of the same names.
        Raises IdpError.
        """
        request = OperationRun(
            operation=operation,
            ids=ids,
            document=document,
            org_id=self.org_id if org_id == "" else org_id,
            if_match=if_match,
            idempotency_key=idempotency_key,
            authenticated_at=self.console_session.live_session.session.auth_time,
        )
        return await run(
            self.service, self.console_session.user, self.console_session.rights, request
        )

    def shell(
        self,
        operation: Operation,
        ids: Sequence[str] = (),
        command: str | None = None,
        document: Document | None = None,
    ) -> list[dict[str, object]]:
        """Returns the template values of the shell commands that run an operation in the current
        organization; an operation on the installation has no option for one. An operation without
        a dedicated subcommand is run by `idp api`."""
        if command is None:
            body = "" if document is None else " --body FILE"
            command = f"api {operation.method} {operation.path}{body}"
        org_id = None if operation.permission.startswith("iam.") else self.org_id
        config = self.service.config
        return commands.rendered(config, operation, ids, document, org_id, command)

    @property
    def named_org_id(self) -> str | None:
        """The id of the organization that the address names, or None."""
        return self.query_params().get("org")

    @property
    def org_id(self) -> str | None:
        """The id of the current organization: the one that the address names, or the person's
        default."""
        return self.organization.id if self.organization else None

    async def _enter_organization(self, org_id: str) -> None:
        """Makes this the current organization. Raises NotFound if it does not exist or the person
        does not manage it."""
        rights = self.console_session.rights
        is_managed = rights.everywhere or org_id in rights.by_organization
        # The store accepts no other ids.
        is_possible = is_managed and org_id.isprintable() and len(org_id) <= MAX_ID_CHARACTERS
        organization = await self.service.store.get(ORGANIZATIONS, org_id) if is_possible else None
        if organization is None:
            raise NotFound("there is no such organization")
        self.organization = organization

    def may(self, permission: permissions.Permission) -> bool:
        """Returns whether the person has this permission in the current organization."""
        org_id = self.org_id
        return org_id is not None and self.console_session.rights.allow(permission, org_id)

    # Addresses and forms

    def url_of(self, path: str, *ids: str, **query: str) -> str:
        """Returns the address of a console page: `path` with its placeholders replaced by the ids,
        and with the current organization if that is not the person's default."""
        for value in ids:
            start, _, remainder = path.partition("{")
            path = start + quote(value, safe="") + remainder.partition("}")[2]
        org_id = self.org_id
        if org_id is not None and org_id != self.console_session.default_org_id:
            query = {"org": org_id, **query}
        return path + ("?" + urlencode(query) if query else "")

    @property
    def _form_subject(self) -> str:
        # With the path, a form of one page is not accepted by another.
        return self._subject_of(self.request.path)

    def _subject_of(self, path: str) -> str:
        return f"{self.console_session.live_session.session.id}\n{path}"

    def token_input(self, path: str) -> list[tuple[str, str]]:
        """Returns the hidden input of a form that is sent to another page of the console."""
        return self.form_token(self._subject_of(path), self.console_session.browser)

    def form_inputs(self, **values: str) -> list[tuple[str, str]]:
        """Returns the hidden inputs of this page's form: a token, an idempotency key and
        `values`."""
        key = ("once", self.service.random.token())
        return [
            *self.form_token(self._form_subject, self.console_session.browser),
            key,
            *values.items(),
        ]

    # Pages

    def page(self, name: str, *, status: int = 200, **values: object) -> None:
        if self.is_entered:
            notice = notices.CONFIRMATIONS.get(self.query_params().if_once("done") or "")
            about, back_url = values.get("about"), values.get("back_url")
            frame = {**self._frame(), "breadcrumbs": self._breadcrumbs(about, back_url)}
            values = {"console": frame, "notice": notice, **values}
        super().page(name, status=status, **values)

    def whole_list(self, **values: Any) -> None:
        """Sends a list without a search that has all on one page; `values` are the others that
        `console/list` requires."""
        absent = dict.fromkeys(("selection", "search", "total", "first_url", "next_url", "sizes"))
        empty = message("There is nothing here yet.", context="console")
        self.page("console/list", **{**absent, "empty": empty, **values})

    def object_page(self, title_text: Message | str, **values: Any) -> None:
        """Sends the page of one record; `values` are those of `console/show` that it has."""
        none = dict.fromkeys(("state", "intro", "preview_url"))
        empty = dict.fromkeys(("properties", "actions", "page_parts", "tabs", "commands"), ())
        values = {**none, **empty, **values}
        self.page("console/show", title_text=title_text, **values)

    def _frame(self) -> dict[str, object]:
        """Returns the values of the navigation and the header."""
        sections = (
            open_to(self.console_session.rights) if self.console_session.may_open_console else {}
        )
        return {
            "groups": [
                {"label": label, "sections": [self._navigation_entry(*entry) for entry in members]}
                for label, members in groupby(sections.items(), lambda entry: entry[1].group)
            ],
            "person": self.console_session.user.profile.display_name,
            "organization": self.organization.name if self.organization else None,
            "change_url": f"{CONSOLE}/organizations"
            if self.console_session.can_switch_organization
            else None,
            "account_url": first_party_areas.ACCOUNT.path,
            "logout_url": END_SESSION,
            "search": self._search_box() if self.console_session.may_open_console else None,
        }

    def _search_box(self) -> dict[str, object]:
        is_search = self.request.path == SEARCH
        # Not the organization of the address: that may be what was refused.
        is_default = self.org_id in (None, self.console_session.default_org_id)
        return {
            "url": SEARCH,
            "hidden": [] if is_default else [("org", self.org_id)],
            "text": (self.query_params().if_once("q") or "") if is_search else "",
        }

    def _navigation_entry(self, name: str, section: ConsoleSection) -> dict[str, object]:
        # The search belongs to no section.
        is_current = name == self.section and self.request.path != SEARCH
        return {
            "label": section.label,
            "icon": section.icon,
            "url": self.url_of(section.path),
            "is_current": is_current,
        }

    def _breadcrumbs(self, about: Any, back_url: Any) -> list[Breadcrumb]:
        """Returns the way from the section to this page: the section unless this is its first
        page, and the page of the record that the page is about, if that is another one."""
        section = SECTIONS[self.section]
        if self.request.path in (section.path, SEARCH):
            return []
        crumbs = [Breadcrumb(section.label, self.url_of(section.path))]
        if about and back_url and back_url.partition("?")[0] != section.path:
            crumbs.append(Breadcrumb(about, back_url))
        return crumbs

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        cause = kwargs.get("exc_info", (None, None))[1]
        refusal = refusals.of(cause) if isinstance(cause, IdpError) else None
        if refusal is None:
            super().write_error(status_code, **kwargs)
            return
        self.page(
            "console/message", status=refusal.status, **refusal.values(self._link_addresses())
        )

    def _link_addresses(self) -> Mapping[str, str]:
        home = self.url_of(CONSOLE) if self.is_entered else CONSOLE
        return {"here": self.request.uri or CONSOLE, "home": home}


class ConsoleAccountHandler(PageHandler):
    """Redirects to the account chooser, where another account can be chosen or signed in."""

    group = MANAGEMENT

    async def get(self) -> None:
        await signed_in_page.sign_in(
            self,
            first_party_areas.CONSOLE,
            await self.find_browser(),
            CONSOLE,
            prompt=("select_account",),
        )


ROUTES = [(f"{CONSOLE}/account", ConsoleAccountHandler)]

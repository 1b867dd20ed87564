"""/ui/console/search: finds users, applications, projects, organizations, service accounts and
pages of settings, of all organizations that the person may read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from msgspec import Struct

from handlers.console import commands, organizations, projects
from handlers.console.applications.actions import PAGE_PATH as APP_PAGE
from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import PATH as POLICIES_PATH
from handlers.console.policies.fields import POLICIES, ConsolePolicy
from handlers.console.sections import CONSOLE, SEARCH, SECTIONS, open_to
from handlers.console.users.actions import PAGE_PATH as USER_PAGE
from handlers.console.users.page import name_of
from handlers.console.users.service_user_actions import PAGE_PATH as SERVICE_USER_PAGE
from handlers.forms import fields
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation, document_of
from idp.foundation.errors import InvalidArgument, NotFound, PermissionDenied
from idp.foundation.i18n import Message, message
from idp.management.call import Call
from idp.management.projects import search_projects
from idp.management.users import name_search
from idp.management.users.read import UserAnswer
from idp.records import APPLICATIONS, PROJECTS
from storage import MAX_ID_CHARACTERS

MIN_CHARACTERS: Final = 2
MAX_CHARACTERS: Final = 200
MAX_OF_A_KIND: Final = 5
_PROJECTS_SEARCHED: Final = 100  # whose applications are looked at
_PREFIX: Final = {"method": "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"}
_EQUAL: Final = {"method": "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"}
_PAGES: Final = {"TYPE_HUMAN": USER_PAGE, "TYPE_MACHINE": SERVICE_USER_PAGE}
_LENGTH: Final = message(
    "Enter %(min)s to %(max)s characters.",
    context="search",
    min=MIN_CHARACTERS,
    max=MAX_CHARACTERS,
)
_PARTIAL: Final = message(
    "Only the first %(number)s users were checked for the other words. Enter "
    "more characters of the first word.",
    context="search",
    number=name_search.MAX_CANDIDATES,
)
_UPGRADING: Final = message(
    "An upgrade is still adding family names to the search. Until it "
    "finishes, search by display name.",
    context="search",
)


class Hit(Struct, frozen=True):
    """Something that was found: its name, what distinguishes it from others of the same name, and
    the address of its page."""

    name: Message | str
    url: str
    detail: str = ""


class _Users(NamedTuple):
    people: list[Hit]
    service_users: list[Hit]
    is_partial: bool


class SearchHandler(ConsoleHandler):
    """Shows up to five results of each kind. If the text is exactly one record's ID, client ID,
    login name or email, or the title of a page, it redirects there."""

    async def show(self, *ids: str) -> None:
        text = (self.query_params().get("q") or "").strip()
        if not (MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS and text.isprintable()):
            self._show(text, [], status=400, problems=[{"field": None, "text": _LENGTH}])
            return
        exact = await self._exact(text)
        if len(exact) == 1:
            self.redirect_303(exact.pop())
            return
        users, *others = await asyncio.gather(
            self._users(text),
            self._applications(text),
            self._projects(text),
            self._organizations(text),
        )
        found = [users.people, *others, users.service_users, list(self._settings(text))]
        self._show(text, found, notes=await self._notes(users))

    async def _notes(self, users: _Users) -> list[Message]:
        """Returns why there may be users who match and aren't on the page."""
        notes = []
        if users.is_partial and len(users.people) < MAX_OF_A_KIND:
            notes.append(_PARTIAL)
        if not await name_search.finds_every_family_name(self.service):
            notes.append(_UPGRADING)
        return notes

    def _show(
        self,
        text: str,
        found: Sequence[Sequence[Hit]],
        notes: Sequence[Message] = (),
        **more: Any,
    ) -> None:
        parts = [
            {"title": title, "hits": hits}
            for title, hits in zip(_TITLES, found, strict=False)
            if hits
        ]
        query = {"displayNameQuery": {"displayName": text or "…", **_PREFIX}}
        self.page(
            "console/search",
            page_parts=parts,
            is_done=bool(found),
            notes=notes,
            commands=commands.rendered(
                self.service.config,
                api.users.SEARCH,
                [],
                {"queries": [query]},
                None,
                "user list --user-name 'an*'",
            ),
            **more,
        )

    async def _found(self, operation: Operation, document: Document, *ids: str) -> list[Document]:
        """Returns the first results of a search in all organizations that the person may read;
        none if there are no such organizations, or if the search can't have this text."""
        try:
            answer = await self.run(operation, *ids, document=document, org_id=None)
        except (PermissionDenied, InvalidArgument, NotFound):
            return []
        results: list[Document] = answer.get("result", [])
        return results

    # Exact hits

    async def _exact(self, text: str) -> set[str]:
        """Returns the addresses of the records whose ID, client ID, login name or email this is,
        and of the pages of settings with this title."""
        queries = (
            {"inUserIdsQuery": {"userIds": [text]}},
            {"loginNameQuery": {"loginName": text, **_EQUAL}},
            {"emailQuery": {"emailAddress": text, **_EQUAL}},
        )
        users = await asyncio.gather(
            *(self._found(api.users.SEARCH, _search([query], 2)) for query in queries)
        )
        by_id = await self._found(
            api.organizations.SEARCH, _search([{"idQuery": {"id": text}}], 1)
        )
        return {
            *(self._user(user).url for one in users for user in one),
            *(self._organization(one).url for one in by_id),
            *await self._objects_with_id(text),
            *(hit.url for hit in self._titled_pages() if self._folded(hit) == text.casefold()),
        }

    async def _objects_with_id(self, text: str) -> list[str]:
        """Returns the address of the application or project with this ID."""
        if len(text) > MAX_ID_CHARACTERS:
            return []
        application, project = await self.service.store.get_many(
            [(APPLICATIONS, text), (PROJECTS, text)]
        )
        rights, urls = self.console_session.rights, list[str]()
        if application and rights.allow("project.app.read", application.org_id):
            ids = (application.project_id, application.id)
            path = CONSOLE + APP_PAGE
            urls.append(self.url_of(path, *ids, org=application.org_id))
        if project and rights.allow("project.read", project.org_id):
            urls.append(self.url_of(CONSOLE + projects.PAGE_PATH, project.id, org=project.org_id))
        return urls

    # Results

    async def _users(self, text: str) -> _Users:
        session = self.console_session
        call = Call(session.user, session.rights, api.users.SEARCH.permission, None)
        found = await name_search.matches(self.service, call, text)
        people = [user for user in found.users if user.human]
        service_users = [user for user in found.users if not user.human]
        return _Users(self._hits(people), self._hits(service_users), found.is_partial)

    def _hits(self, users: Sequence[UserAnswer]) -> list[Hit]:
        return [self._user(document_of(user)) for user in users[:MAX_OF_A_KIND]]

    def _user(self, user: Document) -> Hit:
        path = CONSOLE + _PAGES["TYPE_HUMAN" if "human" in user else "TYPE_MACHINE"]
        org_id = str(fields.value_at(user, "details.resourceOwner"))
        url = self.url_of(path, user["userId"], org=org_id)
        return Hit(name_of(user) or user["username"], url, user["preferredLoginName"])

    async def _projects(self, text: str) -> list[Hit]:
        query = {"nameQuery": {"name": text, **_PREFIX}}
        found = await self._found(api.projects.SEARCH, _search([query]))
        return [
            Hit(
                project["name"],
                self.url_of(CONSOLE + projects.PAGE_PATH, project["id"], org=_owner(project)),
                project["id"],
            )
            for project in found
        ]

    async def _applications(self, text: str) -> list[Hit]:
        rights, path = self.console_session.rights, CONSOLE + APP_PAGE
        readable = {
            project["id"]: project["name"]
            for project in await self._found(api.projects.SEARCH, _search([], _PROJECTS_SEARCHED))
            if rights.allow("project.app.read", _owner(project))
        }
        apps = await search_projects.apps_by_prefix(
            self.service, list(readable), text, MAX_OF_A_KIND
        )
        return [
            Hit(
                app.name,
                self.url_of(path, app.project_id, app.id, org=app.org_id),
                readable[app.project_id],
            )
            for app in apps
        ]

    async def _organizations(self, text: str) -> list[Hit]:
        queries = (
            {"nameQuery": {"name": text, **_PREFIX}},
            {"domainQuery": {"domain": text, **_PREFIX}},
        )
        found = await asyncio.gather(
            *(self._found(api.organizations.SEARCH, _search([query])) for query in queries)
        )
        hits = {one["id"]: self._organization(one) for each in found for one in each}
        return list(hits.values())[:MAX_OF_A_KIND]

    def _organization(self, organization: Document) -> Hit:
        org_id = organization["id"]
        url = self.url_of(CONSOLE + organizations.PAGE_PATH, org_id, org=org_id)
        return Hit(organization["name"], url, organization["primaryDomain"])

    def _settings(self, text: str) -> Iterator[Hit]:
        """Yields the pages of which the title, or the label of a setting, in the person's language
        contains the text."""
        folded, found = text.casefold(), set[str]()
        for hit in (*self._titled_pages(), *self._settings_by_label()):
            if len(found) < MAX_OF_A_KIND and folded in self._folded(hit) and hit.url not in found:
                found.add(hit.url)
                yield hit

    def _folded(self, hit: Hit) -> str:
        return self.bundle().text(hit.name).casefold()

    def _titled_pages(self) -> Iterator[Hit]:
        for section in open_to(self.console_session.rights).values():
            yield Hit(section.label, self.url_of(section.path))
        if self.may("policy.read"):
            for policy in POLICIES:
                yield Hit(policy.title, self._policy_url(policy))

    def _settings_by_label(self) -> Iterator[Hit]:
        if self.may("policy.read"):
            for policy in POLICIES:
                title = self.bundle().text(policy.title)
                for field in policy.fields:
                    yield Hit(field.label, self._policy_url(policy), title)

    def _policy_url(self, policy: ConsolePolicy) -> str:
        if policy.kind == "label":
            return self.url_of(SECTIONS["branding"].path)
        page = CONSOLE + POLICIES_PATH
        return self.url_of(f"{page}/{policy.page}" if self.may("policy.write") else page)


_LISTED: Final = ("users", "applications", "projects", "organizations", "service-users")
# The kinds of results, in their order.
_TITLES: Final = (
    *(SECTIONS[name].label for name in _LISTED),
    message("Settings", context="search"),
)


def _search(queries: Sequence[Document], limit: int = MAX_OF_A_KIND) -> Document:
    return {"query": {"limit": limit}, "queries": list(queries)}


def _owner(record: Document) -> str:
    return str(fields.value_at(record, "details.resourceOwner"))


ROUTES: Final = [(SEARCH, SearchHandler)]

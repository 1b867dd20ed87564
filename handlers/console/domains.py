"""The console's pages for an organization's domains: adding, verifying, primary, removing."""

from __future__ import annotations

from typing import Final

from handlers.console.actions import Action, DisplayedOnce, routes
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE, SECTIONS
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import Message, message

DOMAINS: Final = "/management/v1/orgs/me/domains"
DOMAIN: Final = f"{DOMAINS}/{{domain}}"
_ORGANIZATION: Final = "/organizations/{orgId}"
_LIST_PATH: Final = f"{_ORGANIZATION}/domains"
_DOMAIN_PATH: Final = f"{_LIST_PATH}/{{domain}}"
_SECTION: Final = "domains"
PATH: Final = "/domains"

_METHOD: Final = FormField(
    path="type",
    label=message("Verification method", context="domains"),
    kind="choice",
    options=(
        ("DOMAIN_VALIDATION_TYPE_DNS", message("By a TXT record in its DNS", context="domains")),
        ("DOMAIN_VALIDATION_TYPE_HTTP", message("By a file on its web server", context="domains")),
    ),
)
_INTRO: Final = message(
    "Users sign in with a name that ends in a verified domain.", context="domains"
)
_NAME: Final = FormField(
    path="domain",
    label=message("Domain", context="organizations"),
    hint=message("For example, example.com.", context="domains"),
    direction="ltr",
    is_required=True,
)

ACTIONS: Final = (
    Action(
        path=f"{_LIST_PATH}/new",
        section=_SECTION,
        operation=api.organizations.ADD_DOMAIN,
        title=message("Add a domain", context="domains"),
        intro=message(
            "Once the domain is verified, users can sign in with it.",
            context="domains",
        ),
        button=message("Add", context="console"),
        fields=(_NAME,),
        next_path=PATH,
        confirmation="added",
        command="domain add --domain DOMAIN",
    ),
    Action(
        path=f"{_DOMAIN_PATH}/prove",
        section=_SECTION,
        operation=api.organizations.CHALLENGE_DOMAIN,
        title=message("Verify the domain", context="domains"),
        button=message("Generate a token", context="domains"),
        fields=(_METHOD,),
        shows=(
            DisplayedOnce("url", message("Where to publish it", context="domains")),
            DisplayedOnce("token", message("What to publish", context="domains")),
        ),
        next_path=f"{_DOMAIN_PATH}/look",
        confirmation="token",
        command="domain challenge {domain} --type dns",
    ),
    Action(
        path=f"{_DOMAIN_PATH}/look",
        section=_SECTION,
        operation=api.organizations.VERIFY_DOMAIN,
        title=message("Check for the token", context="domains"),
        button=message("Check now", context="domains"),
        next_path=PATH,
        confirmation="verified",
        command="domain verify {domain}",
    ),
    Action(
        path=f"{_DOMAIN_PATH}/primary",
        section=_SECTION,
        operation=api.organizations.SET_PRIMARY_DOMAIN,
        title=message("Make the domain primary", context="domains"),
        intro=message("New usernames end with it from now on.", context="domains"),
        button=message("Make primary", context="domains"),
        next_path=PATH,
        confirmation="saved",
        command="domain set-primary {domain}",
    ),
    Action(
        path=f"{_DOMAIN_PATH}/remove",
        section=_SECTION,
        operation=api.organizations.REMOVE_DOMAIN,
        title=message("Remove the domain", context="domains"),
        intro=message("Users can no longer sign in with it.", context="domains"),
        button=message("Remove", context="console"),
        is_dangerous=True,
        next_path=PATH,
        confirmation="removed",
        command="domain remove {domain}",
    ),
)

_VERIFY: Final = message("Verify", context="domains")
_PRIMARY: Final = message("Make primary", context="domains")
_REMOVE: Final = message("Remove", context="console")


async def of_organization(page: ConsoleHandler, org_id: str) -> Document:
    """Returns the template value of an organization's domains, a sub-list of its page."""
    list_page = await fetch_page(page, "domains", api.organizations.SEARCH_DOMAINS)
    may_change = page.may("org.write")
    columns = [
        message("Domain", context="organizations"),
        message("State", context="console"),
        *([message("Next", context="domains"), _REMOVE] if may_change else []),
    ]
    return sub_list(
        message("Domains", context="domains"),
        columns,
        [_row(page, org_id, domain, may_change=may_change) for domain in list_page.records],
        message("No domains yet.", context="domains"),
        [
            action_link(
                message("Add a domain", context="domains"),
                page.url_of(f"{CONSOLE}{_LIST_PATH}/new", org_id),
            )
        ]
        if may_change
        else [],
        list_page,
    )


def _row(page: ConsoleHandler, org_id: str, domain: Document, *, may_change: bool) -> list[Cell]:
    name = domain["domainName"]
    row = [cells.code(name), cells.text(_state(domain))]
    if not may_change:
        return row
    if domain.get("isPrimary"):
        return [*row, cells.text(None), cells.text(None)]
    label, action = (_PRIMARY, "primary") if domain.get("isVerified") else (_VERIFY, "prove")
    return [
        *row,
        cells.link(label, page.url_of(f"{CONSOLE}{_DOMAIN_PATH}/{action}", org_id, name)),
        cells.link(_REMOVE, page.url_of(f"{CONSOLE}{_DOMAIN_PATH}/remove", org_id, name)),
    ]


def _state(domain: Document) -> Message:
    if domain.get("isPrimary"):
        return message("primary", context="domains")
    if domain.get("isVerified"):
        return message("verified", context="domains")
    return message("not verified yet", context="domains")


class DomainsHandler(ConsoleHandler):
    """Shows the domains of the current organization."""

    section = _SECTION

    async def show(self, *ids: str) -> None:
        domains = await of_organization(self, str(self.org_id))
        self.object_page(
            SECTIONS[_SECTION].label,
            intro=_INTRO,
            page_parts=[domains],
            commands=self.shell(api.organizations.SEARCH_DOMAINS, [], "domain list"),
        )


ROUTES = [*routes(ACTIONS), (CONSOLE + PATH, DomainsHandler)]

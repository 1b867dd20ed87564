"""The console's pages for an organization's domains: adding, verifying, primary, removing."""

from __future__ import annotations

from typing import Final

from handlers.console.actions import Action, DisplayedOnce, routes
from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, sub_list
from handlers.forms.fields import FormField
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message

DOMAINS: Final = "/management/v1/orgs/me/domains"
DOMAIN: Final = f"{DOMAINS}/{{domain}}"
_ORGANIZATION: Final = "/organizations/{orgId}"
_ALL: Final = f"{_ORGANIZATION}/domains"
_ONE: Final = f"{_ALL}/{{domain}}"
_SECTION: Final = "organizations"

_HOW: Final = FormField(
    path="type",
    label=message("How it is proven", context="domains"),
    kind="choice",
    options=(
        ("DOMAIN_VALIDATION_TYPE_DNS", message("By a TXT record in its DNS", context="domains")),
        ("DOMAIN_VALIDATION_TYPE_HTTP", message("By a file on its web server", context="domains")),
    ),
)
_NAME: Final = FormField(
    path="domain",
    label=message("Domain", context="organizations"),
    hint=message("Such as example.com.", context="domains"),
    direction="ltr",
    is_required=True,
)

ACTIONS: Final = (
    Action(
        path=f"{_ALL}/new",
        section=_SECTION,
        operation=f"POST {DOMAINS}",
        title=message("Add a domain", context="domains"),
        intro=message(
            "It counts once it is proven that it is yours: then people can sign in with it.",
            context="domains",
        ),
        button=message("Add", context="console"),
        fields=(_NAME,),
        then=_ORGANIZATION,
        done="added",
        command="domain add --domain DOMAIN",
    ),
    Action(
        path=f"{_ONE}/prove",
        section=_SECTION,
        operation=f"POST {DOMAIN}/validation/_generate",
        title=message("Prove that the domain is yours", context="domains"),
        button=message("Make a token", context="domains"),
        fields=(_HOW,),
        shows=(
            DisplayedOnce("url", message("Where it is published", context="domains")),
            DisplayedOnce("token", message("What is published there", context="domains")),
        ),
        then=f"{_ONE}/look",
        done="token",
        command="domain challenge {domain} --type dns",
    ),
    Action(
        path=f"{_ONE}/look",
        section=_SECTION,
        operation=f"POST {DOMAIN}/validation/_validate",
        title=message("Look whether the token is there", context="domains"),
        button=message("Look now", context="domains"),
        then=_ORGANIZATION,
        done="verified",
        command="domain verify {domain}",
    ),
    Action(
        path=f"{_ONE}/primary",
        section=_SECTION,
        operation=f"POST {DOMAIN}/_set_primary",
        title=message("Make the domain primary", context="domains"),
        intro=message("Login names end with it from then on.", context="domains"),
        button=message("Make primary", context="domains"),
        then=_ORGANIZATION,
        done="saved",
        command="domain set-primary {domain}",
    ),
    Action(
        path=f"{_ONE}/remove",
        section=_SECTION,
        operation=f"DELETE {DOMAIN}",
        title=message("Remove the domain", context="domains"),
        intro=message("Nobody can sign in with it any more.", context="domains"),
        button=message("Remove", context="console"),
        is_dangerous=True,
        then=_ORGANIZATION,
        done="removed",
        command="domain remove {domain}",
    ),
)

_PROVE: Final = message("Prove it", context="domains")
_PRIMARY: Final = message("Make primary", context="domains")
_REMOVE: Final = message("Remove", context="console")


async def of_organization(page: ConsoleHandler, org_id: str) -> Document:
    """Returns the template value of an organization's domains, a sub-list of its page."""
    list_page = await fetch_page(page, "domains", f"POST {DOMAINS}/_search")
    may = page.may("org.write")
    columns = [
        message("Domain", context="organizations"),
        message("State", context="console"),
        *([message("Next", context="domains"), _REMOVE] if may else []),
    ]
    return sub_list(
        message("Domains", context="domains"),
        columns,
        [_row(page, org_id, one, may=may) for one in list_page.records],
        message("It has no domain.", context="domains"),
        [
            action_link(
                message("Add a domain", context="domains"), page.at(f"{CONSOLE}{_ALL}/new", org_id)
            )
        ]
        if may
        else [],
        list_page,
    )


def _row(page: ConsoleHandler, org_id: str, domain: Document, *, may: bool) -> list[Cell]:
    name = domain["domainName"]
    row = [cells.code(name), cells.text(_state(domain))]
    if not may:
        return row
    if domain.get("isPrimary"):
        return [*row, cells.text(None), cells.text(None)]
    label, to = (_PRIMARY, "primary") if domain.get("isVerified") else (_PROVE, "prove")
    return [
        *row,
        cells.link(label, page.at(f"{CONSOLE}{_ONE}/{to}", org_id, name)),
        cells.link(_REMOVE, page.at(f"{CONSOLE}{_ONE}/remove", org_id, name)),
    ]


def _state(domain: Document) -> Message:
    if domain.get("isPrimary"):
        return message("primary", context="domains")
    if domain.get("isVerified"):
        return message("proven", context="domains")
    return message("not proven yet", context="domains")


ROUTES = routes(ACTIONS)

"""The lists of the console's page of a user, one or more in each of its tabs."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from handlers.console.base import ConsoleHandler
from handlers.console.events import entries as event_entries
from handlers.console.sections import CONSOLE
from handlers.console.sub_lists import fetch_page
from handlers.console.users.actions import PAGE_PATH
from handlers.forms import cells
from handlers.forms.cells import Cell, action_link, sub_list
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation.i18n import message

_REMOVE: Final = message("Remove", context="console")
_MAX_CHARACTERS: Final = 200


def _removal(page: ConsoleHandler, path: str, *ids: str, may_change: bool) -> list[Cell]:
    """Returns the cell with the link to the page at `path` that removes something; none for those
    who may not."""
    return [cells.link(_REMOVE, page.url_of(path, *ids))] if may_change else []


async def sessions(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's sessions that have not ended."""
    list_page = await fetch_page(page, "sessions", api.users.SEARCH_SESSIONS, user_id, limit=100)
    may_change = page.may("user.write")
    # The search finds ended sessions too.
    live_sessions = [
        session for session in list_page.records if session["state"].endswith("_ACTIVE")
    ]
    end_label = message("End", context="users")
    path = f"{CONSOLE}{PAGE_PATH}/sessions/{{sessionId}}/end"
    return sub_list(
        message("Sessions", context="users"),
        [
            message("Signed in", context="users"),
            message("Last used", context="users"),
            *([end_label] if may_change else []),
        ],
        [
            [
                cells.instant(session["authenticationDate"]),
                cells.instant(session["lastUsedDate"]),
                *(
                    [cells.link(end_label, page.url_of(path, user_id, session["id"]))]
                    if may_change
                    else []
                ),
            ]
            for session in live_sessions
        ],
        message("No active sessions.", context="users"),
        [
            action_link(
                message("Sign out everywhere", context="users"),
                page.url_of(f"{CONSOLE}{PAGE_PATH}/end-sessions", user_id),
                is_dangerous=True,
            )
        ]
        if may_change and bool(live_sessions or list_page.next_url)
        else [],
        pages=list_page,
    )


async def factors(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's second factors."""
    answer = await page.run(api.users.AUTHENTICATION_METHODS, user_id)
    may_change, rows = page.may("user.write"), []
    if app := answer.get("totp"):
        link = cells.link(_REMOVE, page.url_of(f"{CONSOLE}{PAGE_PATH}/totp/remove", user_id))
        name = cells.text(message("Authenticator app", context="factor"))
        details = cells.text(app.get("name"))
        rows.append(
            [
                name,
                details,
                cells.instant(app["creationDate"]),
                *([link] if may_change else []),
            ]
        )
    if codes := answer.get("recoveryCodes"):
        name = cells.text(message("Recovery codes", context="factor"))
        details = cells.text(message("%(n)s left", context="factor", n=codes.get("left", 0)))
        created = cells.instant(codes["creationDate"])
        rows.append([name, details, created, *([cells.text(None)] if may_change else [])])
    return sub_list(
        message("Second factors", context="factor"),
        [
            message("What", context="factor"),
            message("Details", context="factor"),
            message("Added", context="factor"),
            *([_REMOVE] if may_change else []),
        ],
        rows,
        message("No second factor is set up.", context="factor"),
    )


async def passkeys(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's passkeys."""
    list_page = await fetch_page(page, "passkeys", api.users.SEARCH_PASSKEYS, user_id)
    may_change = page.may("user.write")
    path = f"{CONSOLE}{PAGE_PATH}/passkeys/{{passkeyId}}/remove"
    return sub_list(
        message("Passkeys", context="passkey"),
        [
            message("Name", context="console"),
            message("Last used", context="users"),
            *([_REMOVE] if may_change else []),
        ],
        [
            [
                cells.text(passkey["name"]),
                cells.instant(passkey.get("lastUsedDate")),
                *_removal(page, path, user_id, passkey["id"], may_change=may_change),
            ]
            for passkey in list_page.records
        ],
        message("No passkeys", context="passkey"),
        pages=list_page,
    )


async def grants(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's roles in projects."""
    answer = await page.run(api.users.GRANTS, user_id)
    may_change = page.may("user.grant.write")
    path = f"{CONSOLE}{PAGE_PATH}/grants"
    return sub_list(
        message("Roles in projects", context="users"),
        [
            message("Project", context="console"),
            message("Roles", context="console"),
            *([_REMOVE] if may_change else []),
        ],
        [
            [
                cells.code(grant["projectId"]),
                cells.codes(grant.get("roleKeys", [])),
                *_removal(
                    page, f"{path}/{{grantId}}/remove", user_id, grant["id"], may_change=may_change
                ),
            ]
            for grant in answer.get("result", ())
        ],
        message("No roles in projects.", context="users"),
        [
            action_link(
                message("Assign roles", context="users"), page.url_of(f"{path}/new", user_id)
            )
        ]
        if may_change
        else [],
    )


async def memberships(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's administrator roles."""
    list_page = await fetch_page(
        page, "memberships", api.organizations.SEARCH_MEMBERSHIPS, user_id
    )
    installation = message("The whole installation", context="users")
    return sub_list(
        message("Administrator roles", context="users"),
        [message("Organization", context="users"), message("Roles", context="console")],
        [
            [
                cells.text(
                    installation if membership.get("iam") else membership.get("displayName")
                ),
                cells.codes(membership["roles"]),
            ]
            for membership in list_page.records
        ],
        message("No administrator roles.", context="users"),
        pages=list_page,
    )


async def metadata(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's metadata."""
    list_page = await fetch_page(page, "metadata", api.users.SEARCH_METADATA, user_id)
    may_change = page.may("user.write")
    path = f"{CONSOLE}{PAGE_PATH}/metadata"
    return sub_list(
        message("Metadata", context="users"),
        [
            message("Key", context="console"),
            message("Value", context="users"),
            *([_REMOVE] if may_change else []),
        ],
        [
            [
                cells.code(entry["key"]),
                cells.text(_text(entry["value"])),
                *_removal(
                    page, f"{path}/{{key}}/remove", user_id, entry["key"], may_change=may_change
                ),
            ]
            for entry in list_page.records
        ],
        message("No metadata.", context="users"),
        [
            action_link(
                message("Add metadata", context="users"), page.url_of(f"{path}/new", user_id)
            )
        ]
        if may_change
        else [],
        pages=list_page,
    )


async def activity(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the newest events that the user caused or that changed the
    user."""
    return await event_entries.of_record(page, user_id, {"editorUserId": user_id})


async def links(page: ConsoleHandler, user_id: str) -> Document:
    """Returns the template value of the user's accounts at other identity providers."""
    list_page = await fetch_page(page, "links", api.users.SEARCH_LINKS, user_id)
    may_change = page.may("user.write")
    path = f"{CONSOLE}{PAGE_PATH}/links/{{idpId}}/{{linkedUserId}}/remove"
    return sub_list(
        message("Accounts at other providers", context="users"),
        [
            message("Username at the provider", context="users"),
            message("ID of the provider", context="users"),
            *([_REMOVE] if may_change else []),
        ],
        [
            [
                cells.text(link["providedUserName"]),
                cells.code(link["idpId"]),
                *_removal(
                    page,
                    path,
                    user_id,
                    link["idpId"],
                    link["providedUserId"],
                    may_change=may_change,
                ),
            ]
            for link in list_page.records
        ],
        message("No linked accounts.", context="users"),
        pages=list_page,
    )


def _text(value: str) -> str:
    """Returns a metadata value as text if it is text, shortened; else in base64."""
    try:
        text = base64.b64decode(value).decode()
    except (binascii.Error, UnicodeDecodeError):
        text = value
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + "…"

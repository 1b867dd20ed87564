"""/ui/console/users.csv: the users that the list's filters find, as a file for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Final

from handlers.console.base import ConsoleHandler
from handlers.console.sections import CONSOLE
from handlers.console.users import filters
from handlers.console.users.actions import SECTION
from handlers.forms import fields
from handlers.http import browser, response_parts
from idp import api
from idp.limits.admission import BULK
from idp.management import call as management_call
from idp.management.call import Call
from idp.management.users import listing
from idp.management.users.read import Human, UserAnswer
from idp.management.users.search import UserSearch
from idp.schema import reading

PATH: Final = f"{CONSOLE}/users.csv"
_COLUMNS: Final = (
    "userId",
    "userName",
    "state",
    "displayName",
    "givenName",
    "familyName",
    "email",
    "isEmailVerified",
    "phone",
    "isPhoneVerified",
    "preferredLanguage",
    "creationDate",
)
# Spreadsheets take a cell that begins like this for a formula.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


class UsersCsvHandler(ConsoleHandler):
    """Sends the users of the current organization as CSV (RFC 4180), in UTF-8, at the speed at
    which the browser reads."""

    group = BULK
    section = SECTION

    async def show(self, *ids: str) -> None:
        if browser.is_cross_site(self.service.config, self.request):
            # A link of another site must not store an export in the administrator's name.
            self.redirect_303(self.url_of(f"{CONSOLE}/users"))
            return
        users = await self._found()
        self.set_header("Content-Type", "text/csv; charset=utf-8")
        self.set_header("Content-Disposition", 'attachment; filename="users.csv"')
        self.write(_line(_COLUMNS))
        waiting = 0
        async for user in users:
            line = _line(_cells(user))
            self.write(line)
            waiting += len(line)
            if waiting > response_parts.PART_BYTES:
                await response_parts.send_written(self)
                waiting = 0
        self.finish()

    async def _found(self) -> AsyncIterator[UserAnswer]:
        """Prepares the file, before it begins. Raises InvalidArgument, PermissionDenied."""
        session = self.console_session
        call = Call(session.user, session.rights, api.users.SEARCH.permission, self.org_id)
        call = await management_call.admitted(self.service, call)
        values = fields.submitted_values(filters.FIELDS, self.query_params())
        request = reading.read(UserSearch, {"queries": filters.queries(values)})
        return await listing.begin(self.service, call, request)


def _line(values: Sequence[str]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerow(map(_harmless, values))
    return file.getvalue().encode("utf-8", "replace")


def _harmless(value: str) -> str:
    """Returns the value of a cell that stays text in a spreadsheet (CSV injection)."""
    return f"'{value}" if value.startswith(_FORMULA_STARTS) else value


def _cells(user: UserAnswer) -> list[str]:
    human, created = user.human, user.details.creation_date
    return [
        user.user_id,
        user.username,
        user.state.removeprefix("USER_STATE_"),
        *(_personal(human) if human else [""] * 8),
        f"{created:%Y-%m-%dT%H:%M:%SZ}" if created else "",
    ]


def _personal(human: Human) -> list[str]:
    profile, email, phone = human.profile, human.email, human.phone
    return [
        profile.display_name,
        profile.given_name,
        profile.family_name,
        email.email if email else "",
        _truth(bool(email and email.is_verified)),
        phone.phone if phone else "",
        _truth(bool(phone and phone.is_verified)),
        profile.preferred_language,
    ]


def _truth(value: bool) -> str:
    return "true" if value else "false"


ROUTES: Final = [(PATH, UsersCsvHandler)]

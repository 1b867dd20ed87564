"""/ui/account/language: the language of the pages and messages of the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from msgspec import structs

from handlers.account.form import FormHandler
from handlers.account.sections import SECTIONS
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import changes
from idp.foundation import i18n
from idp.foundation.i18n import message
from idp.management.users import change as user_change
from idp.management.users.change import HumanChange
from idp.schema import reading

_PATH: Final = "profile.preferredLanguage"
_LANGUAGE: Final = FormField(
    path=_PATH,
    source="human.profile.preferredLanguage",
    label=message("Language", context="page"),
    kind="choice",
)


class LanguageHandler(FormHandler):
    """Changes the person's language. The choices are all languages, each by its own name."""

    section = "language"
    title = message("Language", context="page")
    intro = message("For these pages and our emails.", context="account")

    def inputs(self) -> Sequence[FormField]:
        options = [(tag, i18n.endonym(tag)) for tag in i18n.available()]
        return [structs.replace(_LANGUAGE, options=options)]

    async def act(self, document: Document, if_match: int | None) -> None:
        request, user_id = reading.read(HumanChange, document), self.person.user.id
        await changes.run(self.service, user_change.change, self.call(if_match), user_id, request)
        tag = request.profile.preferred_language if request.profile else None
        # The account pages change their language immediately.
        self.next_path = f"{self.section_url}?{urlencode({'lang': tag or ''})}"

    def ask(self, values: Values, *, status: int = 200, **page_values: Any) -> None:
        tag = i18n.lookup(values[_PATH], i18n.available()) or self.bundle().tag
        super().ask({_PATH: tag}, status=status, **page_values)


ROUTES = [(SECTIONS["language"].path, LanguageHandler)]

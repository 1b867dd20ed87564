"""The console's page for texts of the sign-in pages: all texts of one screen in one language."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

from handlers.console import commands
from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import OF_ALL, PATH, SECTION
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import BY_NAME, Document
from idp.foundation import i18n
from idp.foundation.errors import (
    FieldProblem,
    InvalidArgument,
    PermissionDenied,
    PreconditionFailed,
)
from idp.foundation.i18n import message
from idp.oauth.params import Params
from idp.policies.page_texts import SCREENS

_LANGUAGE: Final = FormField(
    path="language",
    label=message("Language", context="page"),
    kind="choice",
    options=[(tag, tag) for tag in i18n.available()],
)
_SCREEN: Final = FormField(
    path="screen",
    label=message("Page", context="policies"),
    kind="choice",
    options=[(screen, screen) for screen in SCREENS],
)


class PageTextsHandler(ConsoleHandler):
    """Shows the current organization's own texts of the sign-in pages, and changes them."""

    section = SECTION
    prefix = "/management/v1/text"
    path = PATH

    def may_write(self) -> bool:
        return self.may("policy.write")

    async def show(self, *ids: str) -> None:
        await self._ask({})

    async def submit(self, form: Params, *ids: str) -> None:
        if not self.may_write():
            raise PermissionDenied("the person may not set texts")
        language, screen = self._chosen()
        own = await self._own(language)
        inputs = await self._inputs(language, screen)
        typed = {key: (form.get(name) or "").strip() for name, (key, _) in inputs.items()}
        try:
            await self._save(form, language, screen, own, typed)
        except (InvalidArgument, PreconditionFailed) as error:
            values = {name: typed[key] for name, (key, _) in inputs.items()}
            problems = _problems(error, screen, own, typed)
            await self._ask(values, status=refusals.status_of(error), problems=problems)
            return
        chosen = {"language": language, "screen": screen}
        self.redirect_303(self.at(f"{CONSOLE}{self.path}/texts", **chosen, done="saved"))

    async def _save(
        self, form: Params, language: str, screen: str, own: Document, typed: Mapping[str, str]
    ) -> None:
        seen = form.get("sequence") or ""
        await self.run(
            f"PUT {self.prefix}/login/{{language}}",
            language,
            document={"texts": _sent(screen, own, typed)},
            if_match=int(seen) if seen.isdecimal() and seen.isascii() else None,
            idempotency_key=form.get("once"),
        )

    def _chosen(self) -> tuple[str, str]:
        """Returns the language and the screen of the address, or the first ones."""
        query = self.query_params()
        language = i18n.lookup(query.get("language") or self.bundle().tag, i18n.available())
        screen = query.get("screen")
        return language or i18n.SOURCE, screen if screen in SCREENS else SCREENS[1]

    async def _own(self, language: str) -> Document:
        """Returns the organization's own texts with their version, without inherited ones."""
        answer = await self.run(f"GET {self.prefix}/login/{{language}}", language)
        if answer.get("isDefault"):
            return {"texts": [], "sequence": ""}
        texts = answer["customText"].get("texts", [])
        return {"texts": texts, "sequence": answer["details"]["sequence"]}

    async def _inputs(self, language: str, screen: str) -> dict[str, tuple[str, str]]:
        """Returns the key and the default text of each input of a screen."""
        answer = await self.run(f"GET {self.prefix}/default/login/{{language}}", language)
        return {
            _name(each["key"]): (each["key"], each["text"])
            for each in answer["texts"]
            if each["screen"] == screen
        }

    async def _ask(self, typed: Values, **more: Any) -> None:
        language, screen = self._chosen()
        own, inputs = await self._own(language), await self._inputs(language, screen)
        known = {each["key"]: each["text"] for each in own["texts"] if each["screen"] == screen}
        chosen = {"language": language, "screen": screen}
        self.page(
            "console/page-texts",
            search={
                "fields": fields.rendered((_LANGUAGE, _SCREEN), chosen),
                "hidden": [("org", self.named_org_id)] if self.named_org_id else [],
            },
            texts=[
                {
                    "name": name,
                    "usual": usual,
                    # The key is the English text, which a translated input shows as well.
                    "key": key if key != usual else None,
                    "value": typed.get(name, known.get(key, "")),
                }
                for name, (key, usual) in inputs.items()
            ],
            language=language,
            text_direction=i18n.direction(language),
            may_write=self.may_write(),
            back_url=self.at(CONSOLE + self.path),
            commands=commands.by_call(
                self.service.config,
                BY_NAME[f"PUT {self.prefix}/login/{{language}}"],
                [language],
                {"texts": [{"screen": screen, "key": "…", "text": "…"}]},
                self.org_id,
            ),
            hidden=self.form_inputs(**_seen(own)),
            **more,
        )


class InstallationPageTextsHandler(PageTextsHandler):
    """Shows the texts of the sign-in pages for all organizations without their own, and changes
    them."""

    prefix = "/admin/v1/text"
    path = OF_ALL
    requires_recent_authentication = True

    def may_write(self) -> bool:
        return "iam.write" in self.visit.rights.everywhere


def _name(key: str) -> str:
    """Returns the name of a text's input: a digest, because the key may contain any characters."""
    return "t-" + hashlib.sha256(key.encode()).hexdigest()[:16]


def _seen(own: Document) -> dict[str, str]:
    return {"sequence": own["sequence"]} if own["sequence"] else {}


def _sent(screen: str, own: Document, typed: Mapping[str, str]) -> list[Document]:
    """Returns all texts of the language, with the entered ones for this screen."""
    others = [each for each in own["texts"] if each["screen"] != screen]
    own_texts = [
        {"screen": screen, "key": key, "text": text} for key, text in typed.items() if text
    ]
    return [*own_texts, *others]


def _problems(
    error: InvalidArgument | PreconditionFailed,
    screen: str,
    own: Document,
    typed: Mapping[str, str],
) -> list[dict[str, object]]:
    """Returns the problems at their inputs. The API names a text by its position in the
    request."""
    keys = [each["key"] for each in _sent(screen, own, typed)]
    inputs = [
        FormField(
            path=_name(key), label=message("Text", context="policies"), means=(f"texts[{n}]",)
        )
        for n, key in enumerate(keys)
    ]
    problems = []
    for one in error.details:
        at = one.field.partition(".")[0]
        field = next((each for each in inputs if at in each.means), None)
        problems.append(_beside(field, one) if field else fields.problems((), error)[0])
    return problems


def _beside(field: FormField, one: FieldProblem) -> dict[str, object]:
    problems = fields.problems([field], InvalidArgument([one._replace(field=field.path)]))
    return problems[0]


ROUTES = [
    (f"{CONSOLE}{PATH}/texts", PageTextsHandler),
    (f"{CONSOLE}{OF_ALL}/texts", InstallationPageTextsHandler),
]

"""The console's page for texts of the sign-in pages: all texts of one screen in one language."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, cast

from handlers.console.base import ConsoleHandler
from handlers.console.policies.fields import INSTALLATION_PATH, PATH
from handlers.console.sections import CONSOLE
from handlers.forms import fields, refusals, stale_edits
from handlers.forms.cells import Cell, action_link
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.foundation import i18n
from idp.foundation.errors import (
    FieldProblem,
    IdpError,
    InvalidArgument,
    PermissionDenied,
    PreconditionFailed,
)
from idp.foundation.i18n import Message, message
from idp.oauth.params import Params
from idp.policies.page_texts import SCREENS

_BASIS: Final = "basis"  # of a form that was rendered while there were no own texts
_INHERITED: Final = "inherited"
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

    section = "texts"
    reading = api.policies.READ_PAGE_TEXTS
    setting = api.policies.SET_PAGE_TEXTS
    inherited = api.policies.READ_INHERITED_PAGE_TEXTS
    path = PATH
    other_path = INSTALLATION_PATH
    other_label = message("Texts of the installation", context="policies")

    def may_write(self) -> bool:
        return self.may("policy.write")

    async def show(self, *ids: str) -> None:
        await self._ask({})

    async def submit(self, form: Params, *ids: str) -> None:
        if not self.may_write():
            raise PermissionDenied("the person may not set texts")
        language, screen = self._language_and_screen()
        stored = await self._own_texts(language)
        inputs = await self._inputs(language, screen)
        entered = {key: (form.get(name) or "").strip() for name, (key, _) in inputs.items()}
        try:
            if stored["sequence"] and form.get(_BASIS) == _INHERITED:
                raise PreconditionFailed("somebody has set texts since the form was rendered")
            await self._save(form, language, screen, stored, entered)
        except (InvalidArgument, PreconditionFailed) as error:
            values = {name: entered[key] for name, (key, _) in inputs.items()}
            problems = _problems(error, screen, stored, entered)
            status = refusals.status_of(error)
            await self._ask(values, refused=(form, error), status=status, problems=problems)
            return
        selection = {"language": language, "screen": screen}
        self.redirect_303(self.url_of(f"{CONSOLE}{self.path}/texts", **selection, done="saved"))

    async def _save(
        self,
        form: Params,
        language: str,
        screen: str,
        stored: Document,
        entered: Mapping[str, str],
    ) -> None:
        await self.run(
            self.setting,
            language,
            document={"texts": _request_texts(screen, stored, entered)},
            if_match=fields.sequence(form),
            idempotency_key=form.get("once"),
        )

    def _language_and_screen(self) -> tuple[str, str]:
        """Returns the language and the screen of the address, or the first ones."""
        query = self.query_params()
        language = i18n.lookup(query.get("language") or self.bundle().tag, i18n.available())
        screen = query.get("screen")
        return language or i18n.SOURCE, screen if screen in SCREENS else SCREENS[1]

    async def _own_texts(self, language: str) -> Document:
        """Returns the organization's own texts with their version, without inherited ones."""
        answer = await self.run(self.reading, language)
        if answer.get("isDefault"):
            return {"texts": [], "sequence": ""}
        texts = answer["customText"].get("texts", [])
        return {"texts": texts, "sequence": answer["details"]["sequence"]}

    async def _inputs(self, language: str, screen: str) -> dict[str, tuple[str, str]]:
        """Returns the key and the default text of each input of a screen."""
        answer = await self.run(self.inherited, language)
        return {
            _name(entry["key"]): (entry["key"], entry["text"])
            for entry in answer["texts"]
            if entry["screen"] == screen
        }

    async def _ask(
        self,
        entered: Values,
        refused: tuple[Params, IdpError] | None = None,
        **page_values: Any,
    ) -> None:
        """Shows the texts with the entered values; `refused` is a form with the error for which it
        was refused."""
        language, screen = self._language_and_screen()
        stored, inputs = await self._own_texts(language), await self._inputs(language, screen)
        stored_texts = {
            entry["key"]: entry["text"] for entry in stored["texts"] if entry["screen"] == screen
        }
        values = {name: stored_texts.get(key, "") for name, (key, _) in inputs.items()}
        sequence = stored["sequence"]
        changes, version = _versions(inputs, sequence, values, {**values, **entered}, refused)
        selection = {"language": language, "screen": screen}
        self.page(
            "console/page-texts",
            search={
                "fields": fields.rendered((_LANGUAGE, _SCREEN), selection),
                "hidden": [("org", self.named_org_id)] if self.named_org_id else [],
            },
            texts=[
                {
                    "name": name,
                    "default_text": default_text,
                    # The key is the English text, which is displayed beside a translated default
                    # text.
                    "key": key if key != default_text else None,
                    "value": entered.get(name, values[name]),
                }
                for name, (key, default_text) in inputs.items()
            ],
            language=language,
            text_direction=i18n.direction(language),
            may_write=self.may_write(),
            actions=self._scope_links(),
            commands=self.shell(
                self.setting,
                [language],
                document={"texts": [{"screen": screen, "key": "…", "text": "…"}]},
            ),
            changes=changes,
            is_stale=refused is not None and isinstance(refused[1], PreconditionFailed),
            hidden=self.form_inputs(**version),
            **page_values,
        )

    def _scope_links(self) -> list[Cell]:
        """Returns the link from the organization's texts to those of the installation, or the
        reverse, for those who may open both."""
        if "iam.read" not in self.console_session.rights.everywhere:
            return []
        return [action_link(self.other_label, self.url_of(f"{CONSOLE}{self.other_path}/texts"))]


class InstallationPageTextsHandler(PageTextsHandler):
    """Shows the texts of the sign-in pages for all organizations without their own, and changes
    them."""

    reading = api.policies.READ_DEFAULT_PAGE_TEXTS
    setting = api.policies.SET_DEFAULT_PAGE_TEXTS
    inherited = api.policies.READ_BUILT_IN_PAGE_TEXTS
    path = INSTALLATION_PATH
    other_path = PATH
    other_label = message("Texts of the organization", context="policies")
    requires_recent_authentication = True

    def may_write(self) -> bool:
        return "iam.write" in self.console_session.rights.everywhere


def _name(key: str) -> str:
    """Returns the name of a text's input: a digest, because the key may contain any characters."""
    return "t-" + hashlib.sha256(key.encode()).hexdigest()[:16]


def _versions(
    inputs: Mapping[str, tuple[str, str]],
    sequence: str,
    stored: Values,
    entered: Values,
    refused: tuple[Params, IdpError] | None,
) -> tuple[list[dict[str, object]], dict[str, str]]:
    """Returns what somebody else has changed since the refused form was rendered, and the hidden
    inputs with the version that the next form is about (`stale_edits`)."""
    text_fields = [
        FormField(path=name, label=Message(default_text), kind="free")
        for name, (_, default_text) in inputs.items()
    ]
    record = {"details": {"sequence": sequence}}
    version = stale_edits.version_inputs(text_fields, record, stored) or {_BASIS: _INHERITED}
    if refused is None:
        return [], version
    form, error = refused
    if not isinstance(error, PreconditionFailed):
        return [], stale_edits.version_of(form) or {_BASIS: _INHERITED}
    changes = stale_edits.other_changes(text_fields, form, entered, stored)
    # The labels are in the language of the texts, not in that of the page.
    return [{**each, "label": cast(Message, each["label"]).msgid} for each in changes], version


def _request_texts(screen: str, stored: Document, entered: Mapping[str, str]) -> list[Document]:
    """Returns all texts of the language, with the entered ones for this screen."""
    other_texts = [entry for entry in stored["texts"] if entry["screen"] != screen]
    screen_texts = [
        {"screen": screen, "key": key, "text": text} for key, text in entered.items() if text
    ]
    return [*screen_texts, *other_texts]


def _problems(
    error: InvalidArgument | PreconditionFailed,
    screen: str,
    stored: Document,
    entered: Mapping[str, str],
) -> list[dict[str, object]]:
    """Returns the problems at their inputs. The API names a text by its position in the
    request."""
    keys = [field_of_text["key"] for field_of_text in _request_texts(screen, stored, entered)]
    inputs = [
        FormField(
            path=_name(key),
            label=message("Text", context="policies"),
            related_paths=(f"texts[{n}]",),
        )
        for n, key in enumerate(keys)
    ]
    problems = []
    for problem in error.details:
        text_path = problem.field.partition(".")[0]
        field = next(
            (
                field_of_text
                for field_of_text in inputs
                if text_path in field_of_text.related_paths
            ),
            None,
        )
        problems.append(_field_problem(field, problem) if field else fields.problems((), error)[0])
    return problems


def _field_problem(field: FormField, problem: FieldProblem) -> dict[str, object]:
    problems = fields.problems([field], InvalidArgument([problem._replace(field=field.path)]))
    return problems[0]


ROUTES = [
    (f"{CONSOLE}{PATH}/texts", PageTextsHandler),
    (f"{CONSOLE}{INSTALLATION_PATH}/texts", InstallationPageTextsHandler),
]

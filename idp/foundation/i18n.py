"""Languages: texts from `locales/*.po`, and the choice of one for a request.

A file's name is its BCP 47 tag. A msgid is the English text itself and a msgctxt its screen, so
English has no file of its own, and texts without translation stay in English.
`locales/messages.pot`, the template, lists all msgids. Babel is imported at the first use, because
the start of the program does not need it.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from idp.foundation import pseudo_locale

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog


SOURCE = "en"  # the language of the msgids

# Old and regional tags of languages that are shipped under another tag.
ALIASES = {
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
    "zh-mo": "zh-hant",
    "zh": "zh-hans",
    "zh-cn": "zh-hans",
    "zh-sg": "zh-hans",
    "no": "nb",
    "iw": "he",
    "in": "id",
    "sh": "sr-latn",
    "tl": "fil",
}

# The limits of a header or parameter; the rest is ignored.
MAX_TAGS = 20
_MAX_LOOKUPS = 1000  # that are remembered; clients may send any tag and any header
MAX_LENGTH = 2048

_LANGUAGE_RANGE = re.compile(r"\s*([A-Za-z0-9*_-]+)\s*(?:;\s*[qQ]\s*=\s*([01](?:\.\d{0,3})?)\s*)?")


class Message(Struct, frozen=True):
    """A text that is translated later, by `Bundle.text`."""

    msgid: str
    context: str | None = None
    plural: str | None = None
    args: Mapping[str, object] = {}


def message(
    msgid: str, /, *, context: str | None = None, plural: str | None = None, **args: object
) -> Message:
    """Returns a text marked for translation; with `plural`, the argument `n` chooses the form.

    `msgid`, `plural` and `context` are literals, because the extractor reads the source.
    """
    if plural is not None and not isinstance(args.get("n"), int):
        raise TypeError("a message with a plural needs the number n")
    return Message(msgid, context, plural, args)


class Bundle:
    """The texts of one language. Texts without translation are returned in English."""

    def __init__(
        self,
        tag: str,
        texts: Mapping[tuple[str | None, str], tuple[str, ...]],
        plural_index: Callable[[int], int],
    ):
        self.tag = tag
        self._texts = texts
        self._plural_index = plural_index

    @property
    def direction(self) -> str:
        """The writing direction: `ltr` or `rtl`."""
        return direction(self.tag)

    @property
    def endonym(self) -> str:
        """The language's name in that language, as the language switcher shows it."""
        return endonym(self.tag)

    def is_translated(self, msgid: str, context: str | None = None) -> bool:
        """Returns whether the text is in this language; if not, it needs its own `lang` on the
        page."""
        return self.tag == SOURCE or (context, msgid) in self._texts

    def gettext(self, msgid: str, /, **args: object) -> str:
        return self._singular(None, msgid, args)

    def pgettext(self, context: str, msgid: str, /, **args: object) -> str:
        return self._singular(context, msgid, args)

    def ngettext(self, msgid: str, plural: str, n: int, /, **args: object) -> str:
        """Returns the text with the plural form for the number `n`, which may occur in it as
        `%(n)s`.
        """
        return self._plural(None, msgid, plural, {"n": n, **args}, n)

    def npgettext(self, context: str, msgid: str, plural: str, n: int, /, **args: object) -> str:
        return self._plural(context, msgid, plural, {"n": n, **args}, n)

    def text(self, translatable: Message | str) -> str:
        """Returns the message in this language; a plain string is returned unchanged."""
        if isinstance(translatable, str):
            return translatable
        if translatable.plural is None:
            return self._singular(translatable.context, translatable.msgid, translatable.args)
        n = translatable.args["n"]
        assert isinstance(n, int)  # noqa: S101 -- message() refused anything else
        return self._plural(
            translatable.context, translatable.msgid, translatable.plural, translatable.args, n
        )

    def with_overrides(self, texts: Mapping[tuple[str, str], str]) -> Bundle:
        """Returns a copy of the bundle in which the values of `texts` replace its own texts; the
        keys are pairs of context and msgid."""
        overridden = dict(self._texts)
        overridden.update({name: (text,) for name, text in texts.items()})
        return Bundle(self.tag, overridden, self._plural_index)

    def _singular(self, context: str | None, msgid: str, args: Mapping[str, object]) -> str:
        return _filled(self._texts.get((context, msgid), (msgid,))[0], args)

    def _plural(
        self, context: str | None, msgid: str, plural: str, args: Mapping[str, object], n: int
    ) -> str:
        forms = self._texts.get((context, msgid))
        if forms is None:
            return _filled(msgid if n == 1 else plural, args)
        return _filled(forms[self._plural_index(n)], args)


def _filled(text: str, args: Mapping[str, object]) -> str:
    """The text with its placeholders replaced; without arguments, a `%` is a plain per cent
    sign."""
    return text % args if args else text


@cache
def load(tag: str) -> Bundle:
    """Returns the bundle of a language tag, which must be one that `selectable` can return.

    Each language's file is read once. The source language has no translations, so its bundle needs
    no file.
    """
    if tag == SOURCE:
        return Bundle(tag, {}, lambda n: int(n != 1))
    is_pseudo = tag == pseudo_locale.TAG
    catalog = _catalog(SOURCE if is_pseudo else tag)
    texts = {}
    for entry in catalog:
        ids, forms = _forms(entry.id), _forms(entry.string)
        if is_pseudo:
            forms = tuple(map(pseudo_locale.text, ids))
        if entry.id and forms and all(forms) and not entry.fuzzy:
            texts[entry.context, ids[0]] = forms
    return Bundle(tag, texts, gettext.c2py(catalog.plural_expr))


@cache
def singulars() -> tuple[tuple[str, str], ...]:
    """Returns context and msgid of every text without plural forms."""
    entries = ((entry.context or "", entry.id) for entry in _catalog(SOURCE))
    return tuple(
        (context, msgid) for context, msgid in entries if isinstance(msgid, str) and msgid
    )


def _catalog(tag: str) -> Catalog:
    """The catalogue of a language; for the source language, the template."""
    from babel.messages.pofile import read_po

    name = "messages.pot" if tag == SOURCE else f"{tag}.po"
    with resources.files("locales").joinpath(name).open("rb") as file:
        return read_po(file, locale=tag.replace("-", "_"))


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())


@cache
def available() -> tuple[str, ...]:
    """Returns the tags of the languages that the program has (`ui_locales_supported`): the source
    language and those with a file.

    A test ensures that each is complete.
    """
    names = (file.name for file in resources.files("locales").iterdir())
    translated = {name.removesuffix(".po") for name in names if name.endswith(".po")}
    return tuple(sorted({SOURCE, *translated}))


def selectable(
    listed: tuple[str, ...] | None = None, *, has_pseudo_locale: bool
) -> tuple[str, ...]:
    """Returns the tags of the languages that a request can choose: those in `listed`, or with None
    all that the program has.

    `has_pseudo_locale` adds the pseudo-locale, which is for developers' machines.
    """
    listed = available() if listed is None else listed
    return (*listed, pseudo_locale.TAG) if has_pseudo_locale else listed


@cache
def direction(tag: str) -> str:
    """Returns the writing direction of a language: `ltr` or `rtl`."""
    from babel import Locale

    return Locale.parse(SOURCE if tag == pseudo_locale.TAG else tag, sep="-").text_direction


@cache
def endonym(tag: str) -> str:
    """Returns the name of a language in that language."""
    from babel import Locale

    if tag == pseudo_locale.TAG:
        return tag
    return Locale.parse(tag, sep="-").get_display_name() or tag


def negotiate(
    chosen: str | None,
    ui_locales: str | None,
    accept_language: str | None,
    default: str = SOURCE,
    shipped: Collection[str] | None = None,
    remembered: str | None = None,
) -> str:
    """Returns the tag of the language to answer in: one of `shipped`, by default one of
    `available`.

    The order is: the user's explicit choice (`chosen`), the application's `ui_locales` in their
    order, the choice that the user made earlier (`remembered`), the browser's `Accept-Language` by
    weight, the `default`. The arguments are as they were sent; values that can't be used are
    ignored.
    """
    shipped = available() if shipped is None else shipped
    for tag in _requested(chosen or "", ui_locales or "", remembered or "", accept_language or ""):
        if language := lookup(tag, shipped):
            return language
    return lookup(default, shipped) or lookup(SOURCE, shipped) or next(iter(shipped), SOURCE)


def _requested(
    chosen: str, ui_locales: str, remembered: str, accept_language: str
) -> Iterator[str]:
    yield chosen[:MAX_LENGTH]
    yield from ui_locales[:MAX_LENGTH].split()[:MAX_TAGS]
    yield remembered[:MAX_LENGTH]
    # "*" is any language: the default matches it, and tags of lower weight are irrelevant then.
    yield from takewhile(lambda tag: tag != "*", _by_weight(accept_language[:MAX_LENGTH]))


@lru_cache(_MAX_LOOKUPS)
def _by_weight(accept_language: str) -> tuple[str, ...]:
    """RFC 9110 section 12.5.4; a weight of 0 excludes a language."""
    items = islice(accept_language.split(","), MAX_TAGS)
    ranges = [match.groups() for item in items if (match := _LANGUAGE_RANGE.fullmatch(item))]
    weighted = [(float(weight or 1), tag) for tag, weight in ranges]
    return tuple(tag for weight, tag in sorted(weighted, key=lambda w: -w[0]) if weight > 0)


def lookup(tag: str, shipped: Collection[str]) -> str | None:
    """Returns the tag among `shipped` that is nearest to `tag`; None if there is none.

    The order is: RFC 4647 section 3.4, the aliases, any variant of the same language (`pt-BR` is
    better for `pt` than English).
    """
    return _lookup(tag[:MAX_LENGTH], tuple(shipped))


@lru_cache(_MAX_LOOKUPS)
def _lookup(tag: str, shipped: tuple[str, ...]) -> str | None:
    by_key = {name.lower(): name for name in sorted(shipped)}
    # Extensions and private use (`en-u-rg-uszzzz`, `de-x-house`) begin with a single letter.
    parts = takewhile(lambda part: len(part) > 1, tag.lower().replace("_", "-").split("-"))
    subtags = list(parts)
    for length in range(len(subtags), 0, -1):
        key = "-".join(subtags[:length])
        if name := by_key.get(key) or by_key.get(ALIASES.get(key, "")):
            return name
    by_key.pop(pseudo_locale.TAG.lower(), None)  # not a real language
    variants = (name for key, name in by_key.items() if key.split("-")[0] in subtags[:1])
    return next(variants, None)

"""Renders the templates of pages with values and translated texts; those of mails are rendered by
`idp.mail.html`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import cache, lru_cache, partial
from importlib import resources
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from mako.lookup import TemplateLookup
from markupsafe import Markup, escape
from msgspec import structs

from handlers.http import static_files
from handlers.pages import icons
from handlers.pages.field_problems import input_attributes, only_field, problems_of
from idp.foundation import i18n, redaction
from idp.foundation.i18n import Bundle, Message
from idp.foundation.localization import local_time, name_order

_EPOCH = datetime.fromtimestamp(0, UTC)
NOTHING = "\u00a0"  # highlighted where a value ends too early

# The values that every page can take, with their defaults. templates/page.mako explains them.
COMMON: Mapping[str, object] = {
    "service_name": None,
    "application_name": None,
    "application_url": None,
    "is_own_area": False,
    "problems": (),
    "notice": None,
    "retry_seconds": None,
    "action": None,
    "hidden": (),
    "query": (),
    "cancellable": False,
    "brand_url": None,
    "links": (),
    "brand_layout": "card",
    "backdrop": None,
    "logo": None,
    "logo_name": None,
    "site_icon": None,
    "request_id": "",
    "now": _EPOCH,
    "time_zone": UTC,
    "console": None,
    "area": None,
}


def render(name: str, bundle: Bundle, **values: object) -> str:
    """Renders the page `name` in the bundle's language.

    `values` are those that the head of `templates/<name>.mako` and `page.mako` list; a missing one
    raises NameError. Every value is escaped.
    """
    template = _lookup().get_template(f"{name}.mako")
    page_values = {**COMMON, **values}
    moment = _moment(bundle.tag, page_values)
    renderer_values = {
        "page": name,
        "labels": {},
        "moment": moment,
        "day_text": _day_text(bundle.tag, page_values),
        "translated_with_values": _translator_with_values(bundle, moment),
    }
    html: str = template.render(
        **{**_FUNCTIONS, **_language(bundle), **page_values, **renderer_values}
    )
    return html


_TIME = Markup('<time datetime="{:%Y-%m-%dT%H:%M:%SZ}" title="{:%Y-%m-%d %H:%M:%S} UTC">{}</time>')


def _moment(tag: str, page_values: Mapping[str, Any]) -> Callable[..., Markup]:
    """Returns `moment(value)`: an instant as markup, in the page's language and time zone, with
    its UTC time as the title. `value` is a datetime or ISO 8601. `form` is "date_time", or
    "relative" for how long ago it was."""
    zone: tzinfo = page_values["time_zone"]

    def moment(
        value: datetime | str, form: Literal["date_time", "relative"] = "date_time"
    ) -> Markup:
        instant = (datetime.fromisoformat(value) if isinstance(value, str) else value).astimezone(
            UTC
        )
        if form == "relative":
            text = local_time.relative(instant, page_values["now"], zone, tag)
        else:
            text = local_time.date_time(instant, zone, tag)
        return _TIME.format(instant, instant, text)

    return moment


def _day_text(tag: str, page_values: Mapping[str, Any]) -> Callable[[str], str]:
    """Returns `day_text(value)`: the date of an instant in ISO 8601, in the page's language and
    time zone."""
    zone: tzinfo = page_values["time_zone"]
    return lambda value: local_time.date(datetime.fromisoformat(value), zone, tag)


def _language(bundle: Bundle) -> dict[str, object]:
    return {
        "_": bundle.gettext,
        "pgettext": bundle.pgettext,
        "ngettext": bundle.ngettext,
        "npgettext": bundle.npgettext,
        "translated": _translator(bundle),
        "text_of": bundle.text,
        "lang": bundle.tag,
        "is_family_name_first": name_order.is_family_name_first(bundle.tag),
        "dir": bundle.direction,
        "duration_text": partial(local_time.duration, tag=bundle.tag),
        "languages": [(tag, i18n.endonym(tag)) for tag in i18n.available()],
    }


def _translator(bundle: Bundle) -> Callable[[Message | str], str]:
    """Returns `translated(value)`: the translation of a Message, or plain text, for an element's
    content.

    An untranslated text is marked with its own language, so the result must not be used in an
    attribute.
    """

    def translated(value: Message | str) -> str:
        text = bundle.text(value)
        if isinstance(value, str) or bundle.is_translated(value.msgid, value.context):
            return text
        return Markup('<span lang="{}" dir="{}">{}</span>').format(
            i18n.SOURCE, i18n.direction(i18n.SOURCE), text
        )

    return translated


def _translator_with_values(
    bundle: Bundle, moment: Callable[[datetime], Markup]
) -> Callable[[Message], str]:
    """Returns `translated_with_values(value)`: as `translated`, with each value inside the text
    isolated, so that its writing direction does not affect the sentence. An instant is
    displayed by `moment`.
    """
    translated = _translator(bundle)

    def translated_with_values(value: Message) -> str:
        if not value.args:
            return translated(value)
        pattern = translated(structs.replace(value, args={}))
        return rich(pattern, **{name: displayed(arg) for name, arg in value.args.items()})

    def displayed(arg: object) -> Markup:
        return moment(arg) if isinstance(arg, datetime) else isolated(str(arg))

    return translated_with_values


def rich(text: str, **parts: str) -> Markup:
    """Returns a translated sentence as markup, with its placeholders replaced by `parts`. All but
    markup is escaped."""
    return escape(text) % parts


def strong(value: str) -> Markup:
    """Returns markup with a name in bold, isolated so that its writing direction does not affect
    the sentence."""
    return Markup("<strong><bdi>{}</bdi></strong>").format(value)


def isolated(value: str) -> Markup:
    """Returns markup with a name isolated, so that its writing direction does not affect the
    sentence."""
    return Markup("<bdi>{}</bdi>").format(value)


def code(value: str) -> Markup:
    """Returns markup with an identifier, address or setting as code, always written from left to
    right."""
    return Markup('<code dir="ltr">{}</code>').format(value)


def link(url: str) -> Markup:
    """Returns markup with an address as a link, or as plain code if it is not safe to open
    (`web_link`)."""
    if web_link(url) is None:
        return code(url)
    return Markup('<a href="{}">{}</a>').format(url, code(url))


def icon(name: str) -> Markup:
    """Returns markup with an icon (`handlers.pages.icons`)."""
    return Markup(icons.drawing(name))  # noqa: S704  # nosec B704  # a file of the product's own


def html_attributes(values: Mapping[str, object]) -> Markup:
    """Returns markup with the attributes of an element. A value of True makes an attribute without
    a value; attributes with None or False are left out."""
    texts = [
        f" {escape(name)}" if value is True else f' {escape(name)}="{escape(value)}"'
        for name, value in values.items()
        if value is not None and value is not False
    ]
    return Markup("".join(texts))  # noqa: S704  # nosec B704  # each part is escaped


def language_url(query: Sequence[tuple[str, str]], tag: str) -> str:
    """Returns the address, relative to the page's own, of the page in the language with this
    tag."""
    return f"?{_prefix(tuple(query))}lang={tag}"


@lru_cache(16)
def _prefix(query: tuple[tuple[str, str], ...]) -> str:
    """Returns the text of the parameters, before another one. It is cached, because a menu has the
    same ones in each language."""
    return f"{urlencode(query)}&" if query else ""


_DECEPTIVE = re.compile(r"[\\\x00-\x1f]")


def web_link(url: str | None) -> str | None:
    """Returns the address if it is a path or an http or https address, else None: an address of
    another scheme may run scripts."""
    # Browsers read a backslash as a slash and ignore tabs and line ends, so that each could begin
    # the address of another host.
    if url is None or _DECEPTIVE.search(url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    is_path = url.startswith("/") and not url.startswith("//")
    return url if is_path or (parts.scheme in ("http", "https") and parts.netloc) else None


def difference(sent: str, registered: str) -> int | None:
    """Returns the index of the first character in which the two texts differ; None if they are
    equal."""
    if sent == registered:
        return None
    pairs = zip(sent, registered, strict=False)
    shorter = min(len(sent), len(registered))
    return next(
        (
            index
            for index, (sent_character, registered_character) in enumerate(pairs)
            if sent_character != registered_character
        ),
        shorter,
    )


def marked(value: str, index: int | None) -> Markup:
    """Returns markup with the character at index `index` highlighted, none if it is None, and with
    invisible characters made visible."""
    if index is None:
        return escape(redaction.visible(value))
    parts = value[:index], value[index : index + 1] or NOTHING, value[index + 1 :]
    return Markup("{}<mark>{}</mark>{}").format(*map(redaction.visible, parts))


_CITED = re.compile(r"(\((?:RFC|OpenID|OAuth) [^()]*\))")


def cited(text: str) -> Markup:
    """Returns markup in which citations such as `(RFC 6749, 3.1.2.3)` are written from left to
    right."""
    isolated = Markup('<bdi dir="ltr">{}</bdi>')
    parts = enumerate(_CITED.split(text))  # every second part is a citation
    return Markup("").join(isolated.format(part) if n % 2 else part for n, part in parts)


def as_text(value: object) -> str:
    """Returns a claim's value as text: a string as it is, any other JSON value as indented
    JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


@cache
def _lookup() -> TemplateLookup:
    return TemplateLookup(
        directories=[str(resources.files("templates"))],
        default_filters=["h"],
        strict_undefined=True,
        # Templates do not change while the service runs.
        filesystem_checks=False,
    )


# The functions that templates may call, in addition to those of `_language`.
_FUNCTIONS = {
    function.__name__: function
    for function in (
        as_text,
        cited,
        code,
        difference,
        html_attributes,
        icon,
        input_attributes,
        isolated,
        language_url,
        link,
        marked,
        only_field,
        problems_of,
        rich,
        strong,
        web_link,
    )
} | {"Markup": Markup, "static_url": static_files.url}

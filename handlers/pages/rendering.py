"""Renders the Mako templates with values and translated texts. No other module uses Mako."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from mako.lookup import TemplateLookup
from markupsafe import Markup, escape
from msgspec import structs

from idp.foundation import i18n, redaction
from idp.foundation.i18n import Bundle, Message

STATIC_PATH = "/ui/static/"
CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

NOTHING = "\u00a0"  # highlighted where a value ends too early

# What every page may be given, with the default of each. templates/page.mako explains them.
COMMON: Mapping[str, object] = {
    "service_name": None,
    "application_name": None,
    "application_url": None,
    "problems": (),
    "notice": None,
    "retry_seconds": None,
    "action": None,
    "hidden": (),
    "query": (),
    "cancellable": False,
    "brand_url": None,
    "links": (),
    "logo": None,
    "logo_name": None,
    "icon": None,
    "console": None,
    "area": None,
}


def render(name: str, bundle: Bundle, **values: object) -> str:
    """Renders the page `name` in the bundle's language.

    `values` are those that the head of `templates/<name>.mako` and `page.mako` list; a missing one
    raises NameError. Every value is escaped.
    """
    template = _lookup().get_template(f"{name}.mako")
    html: str = template.render(
        **{**_FUNCTIONS, **_language(bundle), **COMMON, **values, "page": name}
    )
    return html


def _language(bundle: Bundle) -> dict[str, object]:
    return {
        "_": bundle.gettext,
        "pgettext": bundle.pgettext,
        "ngettext": bundle.ngettext,
        "npgettext": bundle.npgettext,
        "said": _sayer(bundle),
        "said_with_values": _value_sayer(bundle),
        "text_of": bundle.text,
        "lang": bundle.tag,
        "dir": bundle.direction,
        "languages": [(tag, i18n.endonym(tag)) for tag in i18n.available()],
    }


def _sayer(bundle: Bundle) -> Callable[[Message | str], str]:
    """Returns `said(value)`: the translation of a Message, or plain text, for an element's
    content.

    An untranslated text is marked with its own language, so the result must not be used in an
    attribute.
    """

    def said(value: Message | str) -> str:
        text = bundle.text(value)
        if isinstance(value, str) or bundle.is_translated(value.msgid, value.context):
            return text
        return Markup('<span lang="{}" dir="{}">{}</span>').format(
            i18n.SOURCE, i18n.direction(i18n.SOURCE), text
        )

    return said


def _value_sayer(bundle: Bundle) -> Callable[[Message], str]:
    """Returns `said_with_values(value)`: as `said`, with each value inside the text isolated, so
    that its writing direction does not affect the sentence."""
    translated = _sayer(bundle)

    def translated_with_values(value: Message) -> str:
        if not value.args:
            return translated(value)
        pattern = translated(structs.replace(value, args={}))
        return rich(pattern, **{name: isolated(str(arg)) for name, arg in value.args.items()})

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


def html_attributes(values: Mapping[str, object]) -> Markup:
    """Returns markup with the attributes of an element. A value of True makes an attribute without
    a value; attributes with None or False are left out."""
    return Markup("").join(
        Markup(" {}").format(name) if value is True else Markup(' {}="{}"').format(name, value)
        for name, value in values.items()
        if value is not None and value is not False
    )


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
    return next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)


def marked(value: str, at: int | None) -> Markup:
    """Returns markup with the character at index `at` highlighted, none if it is None, and with
    invisible characters made visible."""
    if at is None:
        return escape(redaction.visible(value))
    parts = value[:at], value[at : at + 1] or NOTHING, value[at + 1 :]
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


def problems_of(problems: Sequence[Mapping[str, object]], field: str) -> list[object]:
    """Returns the texts of those problems whose `field` is this field."""
    return [problem["text"] for problem in problems if problem["field"] == field]


@cache
def _lookup() -> TemplateLookup:
    return TemplateLookup(
        directories=[str(resources.files("templates"))],
        default_filters=["h"],
        strict_undefined=True,
        # Templates do not change while the service runs.
        filesystem_checks=False,
    )


def static_url(name: str) -> str:
    """Returns the path of a static file. It contains a hash of the content, so that browsers can
    cache the file permanently."""
    return f"{STATIC_PATH}{_hash(name)}/{name}"


def static_file(path: str) -> tuple[bytes, str] | None:
    """Returns content and content type of the static file at `<hash>/<name>`, the part of the
    address after `/ui/static/`.

    Returns None if there is none, or if the hash is another: the content of one version must not
    be cached as another's.
    """
    digest, _, name = path.partition("/")
    if name not in _static() or digest != _hash(name):
        return None
    return _static()[name], CONTENT_TYPES[Path(name).suffix]


@cache
def _static() -> dict[str, bytes]:
    files = resources.files("templates").joinpath("static").iterdir()
    return {
        file.name: file.read_bytes() for file in files if Path(file.name).suffix in CONTENT_TYPES
    }


@cache
def _hash(name: str) -> str:
    return hashlib.sha256(_static()[name]).hexdigest()[:16]


# The functions that templates may call, in addition to those of `_language`.
_FUNCTIONS = {
    function.__name__: function
    for function in (
        as_text,
        cited,
        code,
        difference,
        html_attributes,
        isolated,
        link,
        marked,
        problems_of,
        rich,
        static_url,
        strong,
        web_link,
    )
} | {"Markup": Markup}

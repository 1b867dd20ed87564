"""Values that a field of a request allows: those of a pool of unusual values that its rule
accepts."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from idp.schema.field_rules import FieldRefused, Items, Rule
from idp.schema.reading import DeclaredField, Request, declared

_LONG = 200
TEXTS = (
    "",
    " ",
    "a",
    " spaces around ",
    "Zürich",
    "e\u0301 de\u0301compose\u0301",  # two code points a letter
    "İıſKÅﬁ",  # which case folding and composition change
    "日本語 العربية עברית",
    "\u202eabc\u202c\u2066\ufeff\u00ad\u200d",
    "😀👩‍👩‍👧",
    "\U0010ffff\ufffe\ue000",
    "quote \" ' ` and \\ back / slash",
    "<b>&amp;</b>{{.Lang}}${7*7}%(name)s",
    "$set a.b _id __proto__",
    "null",
    "0",
    "a|b_c,d;e=f?g#h%20",
)
LINES = ("line\nbreak", "tab\tand\rreturn", "x\n" * 99)
ADDRESSES = (
    "a@b.example",
    "A.B+c@ÜBUNG.example",  # not of DOMAINS: an import refuses names of another's domain
    '"a b"@quoted.example',
    "a@[192.0.2.1]",
    "o'hara!#$%&*/=?^_`{|}~-@b.example",
    "ü@ü.example",
    f"{'l' * 64}@{'.'.join(['d' * 40] * 3)}.example",
)
DOMAINS = (
    "one.example",
    "ÜBER.example",
    "xn--bcher-kva.example",
    f"{'d' * 63}.example",
    "a.b.c.d",
)
PHONES = ("+41791234567", "tel:+41-79-123.45 67", "+888 1234", "+123456789012345")
PAGES = (
    "https://a.example/{{.Lang}}?a=b&c=d#e",
    "https://ü.example/ü",
    "http://localhost:8080/cb",
    "http://127.0.0.1/cb",
    "https://[2001:db8::1]:444/",
    "com.example.app:/callback",
    "capacitor://localhost",
    f"https://long.example/{'p' * 170}",
)
TIMES = ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2100-02-28t12:00:00+14:00")
LENGTHS = ("0s", "1ns", "999ms", "1h30m1.5s", "24h", "720h", "87600h", "1000000h")
DAYS = ("1990-01-31", "0000-02-29", "1990")
WORDS = ("Europe/Vienna", "UTC", "de", "zh-Hant-TW", "en-x-priv", "#7a1f3d", "#FFFDF8", "red")
BASE64 = ("AA==", "AA", "-_8=", "+/8=", "=", "====", "AAAA" * 1000)
SECRETS = ("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp")
NUMBERS = (0, 1, 2, 60, 100, 200, 2**31, 2**63 - 1, "7")
POOL = (
    *TEXTS,
    *LINES,
    *ADDRESSES,
    *DOMAINS,
    *PHONES,
    *PAGES,
    *TIMES,
    *LENGTHS,
    *DAYS,
    *WORDS,
    *BASE64,
    *SECRETS,
    *NUMBERS,
)


def values(field: DeclaredField) -> list:
    """The values of the pool that the field may have, including the shortest and the longest."""
    if field.is_list:
        return _lists(field)
    if field.type is bool:
        return [True, False]
    if field.rule is None:
        return list(getattr(field.type, "__args__", ()))
    found = [each for each in (*_sized(field.rule), *POOL) if _takes(field.rule, each)]
    return [each for n, each in enumerate(found) if each not in found[:n]]


def _lists(field: DeclaredField) -> list:
    element = field.element
    if isinstance(element.type, type) and issubclass(element.type, Request):
        return []
    one_each = values(element)
    most = field.rule.max if isinstance(field.rule, Items) else len(one_each)
    return [[], one_each[:most], *([each] for each in one_each)]


def _sized(rule: Rule) -> Iterator:
    schema = rule.schema()
    yield from schema.get("enum", ())
    yield from schema.get("examples", ())
    for limit in ("minLength", "maxLength"):
        if limit in schema:
            yield from (sign * schema[limit] for sign in ("x", "😀", "A"))
    for branch in (schema, *schema.get("anyOf", ())):
        yield from (branch[limit] for limit in ("minimum", "maximum") if limit in branch)


def _takes(rule: Rule, value: object) -> bool:
    try:
        rule.read(value)
    except FieldRefused:
        return False
    return True


def variants(kind: type[Request], body: dict) -> Iterator[tuple[str, dict]]:
    """Yields, for each field and each value that it may have, its path and the body with that
    value."""
    for path, field in _fields(kind, ()):
        for value in values(field):
            yield ".".join((*path, field.wire_name)), _changed(body, (*path, field), value)


def _fields(
    kind: type[Request], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], DeclaredField]]:
    for field in declared(kind):
        if isinstance(field.type, type) and issubclass(field.type, Request):
            yield from _fields(field.type, (*path, field.wire_name))
        else:
            yield path, field


def _changed(body: dict, path: tuple, value: object) -> dict:
    *names, field = path
    changed = holder = copy.deepcopy(body)
    for name in names:
        holder = holder.setdefault(name, {})
    holder.pop(field.name, None)
    holder[field.wire_name] = value
    return changed

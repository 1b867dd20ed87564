"""Phone numbers in normal form: `+`, the country's calling code and digits (E.164)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

MAX_CHARACTERS: Final = len("+") + 15
_INPUT: Final = re.compile(r"\+[0-9][0-9().\- ]*")
_DIGITS_ONLY: Final = re.compile(r"\+[1-9][0-9]{7,14}")
_CODE_DIGITS: Final = 3  # of the longest calling codes


class _Country(NamedTuple):
    """The form of numbers with one calling code: the length of `+` and the code, and the prefix
    that is dialled only within the country."""

    length: int
    trunk_prefix: re.Pattern[str] | None


def e164(number_text: str) -> str:
    """Returns the number in normal form. Raises ValueError if the text is no number, or has no
    country.

    The length is not validated by country.
    """
    if _DIGITS_ONLY.fullmatch(number_text) and _is_normal_form(number_text):
        return number_text
    import phonenumbers  # its import takes 15 ms, which the start does not need

    if not _INPUT.fullmatch(number_text):
        raise ValueError(number_text)
    try:
        number = phonenumbers.parse(number_text)
    except phonenumbers.NumberParseException as error:
        raise ValueError(number_text) from error
    text = str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))
    if len(text) > MAX_CHARACTERS:
        raise ValueError(number_text)
    return text


def _is_normal_form(digits: str) -> bool:
    """Whether the library would leave these digits unchanged, as it does with nearly all numbers
    of an import; its own check takes ten times as long."""
    country = _country(digits[1 : 1 + _CODE_DIGITS])
    if country is None:
        return False
    prefix = country.trunk_prefix
    return prefix is None or prefix.match(digits, country.length) is None


@lru_cache(maxsize=1024)
def _country(first_digits: str) -> _Country | None:
    """The country of numbers with these first digits, if there is one."""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE, PhoneMetadata

    for length in range(1, _CODE_DIGITS + 1):
        code = int(first_digits[:length])
        regions = COUNTRY_CODE_TO_REGION_CODE.get(code)
        if regions is None:
            continue
        metadata = PhoneMetadata.metadata_for_region_or_calling_code(code, regions[0])
        if metadata is None:
            return None
        prefix = metadata.national_prefix_for_parsing
        return _Country(1 + length, re.compile(prefix) if prefix else None)
    return None

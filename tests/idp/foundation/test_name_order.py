"""The order of names in the languages."""

from __future__ import annotations

import pytest

from idp.foundation.localization import name_order


@pytest.mark.parametrize(
    ("given", "family", "tag", "name"),
    [
        ("Nora", "Nguyễn", "en", "Nora Nguyễn"),
        ("Nora", "Nguyễn", "vi", "Nguyễn Nora"),
        ("János", "Kovács", "hu", "Kovács János"),
        ("János", "Kovács", "de", "János Kovács"),
        ("花子", "山田", "ja", "山田花子"),
        ("ハナコ", "やまだ", "ja", "やまだハナコ"),
        ("Hanako", "山田", "ja", "山田 Hanako"),
        ("민준", "김", "ko", "김민준"),
        ("花子", "山田", "en", "花子 山田"),
        ("伟", "王", "zh-Hans", "王伟"),
        ("", "王", "zh-Hans", "王"),
        ("伟", "", "zh-Hans", "伟"),
        ("Nora", "", "en", "Nora"),
        ("", "", "hu", ""),
        ("Nora", "N", "", "Nora N"),
    ],
)
def test_a_name_is_in_the_order_of_the_language(given, family, tag, name):
    assert name_order.full_name(given, family, tag) == name

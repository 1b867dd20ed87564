"""`breached_passwords` at the start."""

from __future__ import annotations

import pytest

from idp.config.loading import load
from idp.config.settings import Config
from idp.foundation.errors import ConfigError
from idp.start import bootstrap
from tests.support.transfer.breached_lists import text_file

COUNTS = {"one": 1, "two": 20, "three": 300}


def test_the_list_of_the_settings_is_opened_with_their_count(tmp_path):
    path = text_file(tmp_path / "list.txt", COUNTS)
    config = Config(breached_passwords=str(path), breached_passwords_min_count=20)

    listed = bootstrap.breached_passwords(config)

    assert [listed.contains(password) for password in COUNTS] == [False, True, True]
    assert bootstrap.breached_passwords(Config()) is None


@pytest.mark.parametrize("content", [None, b"", b"password\n", b"IDPB1"])
def test_a_list_that_can_not_be_used_refuses_the_start(tmp_path, content):
    path = tmp_path / "list"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError) as refused:
        bootstrap.breached_passwords(Config(breached_passwords=str(path)))

    assert str(path) in refused.value.problems[0]


@pytest.mark.parametrize(
    ("settings", "about"),
    [
        ({"breached_passwords_url": "http://ranges.example.com/range"}, "breached_passwords_url"),
        ({"breached_passwords_url": "https://user@ranges.example.com"}, "breached_passwords_url"),
        ({"breached_passwords_url": "ranges"}, "breached_passwords_url"),
        ({"password_words": ",".join(f"word{n}" for n in range(201))}, "password_words"),
        ({"password_min_length_with_factor": "20"}, "password_min_length_with_factor"),
    ],
)
def test_settings_of_passwords_that_make_no_sense_are_refused(settings, about):
    with pytest.raises(ConfigError) as refused:
        load(settings, {})

    assert [problem for problem in refused.value.problems if problem.startswith(about)]

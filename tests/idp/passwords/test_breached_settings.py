"""`breached_passwords` at the start, and `idp passwords compact`."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from idp.cli import main
from idp.config.loading import load
from idp.config.settings import Config
from idp.foundation.errors import ConfigError
from idp.passwords import breached
from idp.passwords.breached import open_list
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


def run(*arguments) -> tuple[int, str, str]:
    ran = CliRunner().invoke(main, ["passwords", "compact", *map(str, arguments)])
    return ran.exit_code, ran.stdout, ran.stderr


def test_a_list_is_made_compact_on_the_command_line(tmp_path):
    source, target = text_file(tmp_path / "list.txt", COUNTS), tmp_path / "list.idpb"

    code, told, _ = run(source, target, "--min-count", 20)

    assert (code, told) == (0, f"2 passwords in {target}\n")
    assert [open_list(target).contains(password) for password in COUNTS] == [False, True, True]


def test_an_output_that_is_there_is_replaced_only_on_request(tmp_path):
    source, target = text_file(tmp_path / "list.txt", COUNTS), tmp_path / "list.idpb"
    target.write_text("precious", encoding="ascii")

    code, told, problem = run(source, target)

    assert (code, told) == (1, "")
    assert f"{target} already exists; --overwrite replaces it" in problem
    assert target.read_text(encoding="ascii") == "precious"
    assert run(source, target, "--overwrite")[0] == 0
    assert open_list(target).contains(next(iter(COUNTS)))


def test_an_output_that_came_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    source, target = text_file(tmp_path / "list.txt", COUNTS), tmp_path / "list.idpb"
    open_it = breached.open_list

    def meanwhile(*given):
        target.write_text("precious", encoding="ascii")
        return open_it(*given)

    monkeypatch.setattr(breached, "open_list", meanwhile)

    assert run(source, target)[0] == 1
    assert target.read_text(encoding="ascii") == "precious"


def test_no_progress_is_drawn_where_stderr_is_no_terminal(tmp_path):
    source = text_file(tmp_path / "list.txt", COUNTS)

    assert run(source, tmp_path / "list.idpb")[2] == ""


def test_what_is_no_list_is_a_usage_error_and_leaves_no_file(tmp_path):
    source, target = tmp_path / "list.txt", tmp_path / "list.idpb"
    source.write_text("password\n", encoding="ascii")

    code, told, problem = run(source, target)

    assert (code, told) == (2, "")
    assert "can't be used" in problem
    assert not target.exists()


def test_a_target_that_can_not_be_written_is_an_error(tmp_path):
    source = text_file(tmp_path / "list.txt", COUNTS)

    code, _, problem = run(source, tmp_path / "nowhere" / "list.idpb")

    assert code == 1
    assert "No such file" in problem

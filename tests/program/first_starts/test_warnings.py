"""A start that goes on and warns: once, however many processes there are."""

from __future__ import annotations

import pytest

from tests.support.programs.in_process import started

PUBLIC = ("--issuer", "https://login.example.com")


@pytest.mark.promise("start: unencrypted")
def test_https_that_nobody_ends_is_warned_of_once(tmp_path):
    flags = (*PUBLIC, "--host", "0.0.0.0")
    log = started(tmp_path, *flags).log
    behind_a_proxy = started(tmp_path, *flags, IDP_TRUSTED_PROXIES="10.0.0.0/8").log
    local = started(tmp_path, *PUBLIC).log

    assert log.count("passwords may travel unencrypted") == 1
    assert "name the proxy in trusted_proxies" in log
    assert "unencrypted" not in behind_a_proxy + local


@pytest.mark.promise("start: unencrypted")
def test_of_several_processes_one_warns_of_it(start_program):
    program = start_program(*PUBLIC, "--host", "0.0.0.0", "--processes", "2")
    program.stop()

    assert program.printed.count("passwords may travel unencrypted") == 1


def test_of_several_processes_one_warns_of_a_flag_without_effect(start_program, installed):
    program = start_program("--new-store", "--processes", "2")
    program.stop()

    assert program.printed.count("remove --new-store") == 1

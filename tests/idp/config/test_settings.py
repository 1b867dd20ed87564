"""Settings: where they come from, what they may be, and what is told of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from idp.config import settings as config_module
from idp.config.loading import describe, load
from idp.config.settings import RANGES, TYPES, Config
from idp.foundation.errors import ConfigError


def problems_of(flags=None, environment=None, file=None):
    with pytest.raises(ConfigError) as refused:
        load(flags or {}, environment or {}, file)
    return refused.value.problems


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "idp.toml"

    def write(text):
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_defaults_are_fit_to_run_with_and_know_where_they_came_from():
    config, origins = load({}, {})

    assert config == Config()
    assert (config.issuer, config.store) == (
        "http://localhost:8080",
        "sqlite:///idp-data/idp.sqlite3",
    )
    assert config.data_dir == Path("idp-data")
    assert set(origins.values()) == {"default"}
    assert set(origins) == set(TYPES)


def test_flags_win_over_the_environment_and_it_over_the_file_and_that_over_defaults(file):
    path = file('host = "127.0.0.2"\nport = 1\nprocesses = 3\n')
    environment = {"IDP_PORT": "2", "IDP_PROCESSES": "4"}

    config, origins = load({"processes": 5}, environment, path)

    assert (config.host, config.port, config.processes) == ("127.0.0.2", 2, 5)
    assert origins["host"] == f"file {path}"
    assert origins["port"] == "environment IDP_PORT"
    assert origins["processes"] == "flag --processes"
    assert origins["vendor"] == "default"


def test_the_file_may_be_named_by_the_environment(file):
    config, _ = load({}, {"IDP_CONFIG": str(file("port = 99"))})

    assert config.port == 99


def test_the_process_environment_is_read_when_none_is_given(monkeypatch):
    monkeypatch.setenv("IDP_VENDOR", "acme")

    assert load({}).config.vendor == "acme"


@pytest.mark.parametrize(
    ("flags", "environment"),
    [({"port": None, "trusted_proxies": (), "tls_cert": ""}, {}), ({}, {"IDP_PORT": ""})],
)
def test_what_is_empty_was_not_given(flags, environment):
    assert set(load(flags, environment).origins.values()) == {"default"}


def test_variables_of_the_test_suite_and_of_others_are_ignored():
    environment = {"IDP_TEST_MONGODB_URL": "x", "PATH": "/bin", "IDPX": "1", "idp_port": "9"}

    assert load({}, environment).config == Config()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("insecure_http", "true", True),
        ("insecure_http", "1", True),
        ("insecure_http", "false", False),
        ("insecure_http", "0", False),
        ("port", "0", 0),
        ("port", "065", 65),
        ("trusted_proxies", "10.0.0.0/8, ::1", ("10.0.0.0/8", "::1")),
        ("trusted_proxies", "127.0.0.1", ("127.0.0.1",)),
        ("outgoing_networks", "10.0.0.0/8, fd00::/8", ("10.0.0.0/8", "fd00::/8")),
        ("log_format", "text", "text"),
        ("tls_cert", "a", "a"),
        ("vendor", "acme", "acme"),
    ],
)
def test_text_is_read_as_the_settings_type(name, text, value):
    other = {"IDP_TLS_KEY": "k"} if name == "tls_cert" else {}

    assert getattr(load({}, {f"IDP_{name.upper()}": text} | other).config, name) == value
    assert getattr(load({name: text}, other).config, name) == value


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("insecure_http", "yes", "true or false"),
        ("insecure_http", "True", "true or false"),
        ("port", "80a", "whole number"),
        ("port", "8_0", "whole number"),
        ("port", " 80", "whole number"),
        ("port", "-1", "whole number"),
        ("port", "1e3", "whole number"),
        ("port", "８０", "whole number"),
        ("port", "9" * 5000, "whole number"),
        ("port", "65536", "from 0 to 65535"),
        ("code_seconds", "0", "from 10 to 600"),
        ("password_min_length", "7", "from 8 to 64"),
        ("log_level", "loud", "debug, info, warning, error"),
        ("password_hasher", "md5", "argon2id, bcrypt"),
        ("trusted_proxies", "10.0.0.1/8", "host bits"),
        ("trusted_proxies", "proxy", "trusted_proxies"),
        ("outgoing_networks", "10.0.0.1/8", "outgoing_networks: 10.0.0.1/8 has host bits"),
    ],
)
def test_text_that_is_no_value_of_the_setting_is_refused_by_name_and_origin(name, text, expected):
    (problem,) = problems_of(environment={f"IDP_{name.upper()}": text})

    assert problem.startswith(name)
    assert expected in problem
    assert f"environment IDP_{name.upper()}" in problem


@pytest.mark.parametrize(
    "line",
    ['port = "80"', "port = 80.0", "port = true", "host = 1", 'insecure_http = "true"']
    + ['trusted_proxies = "10.0.0.1"', "trusted_proxies = [1]", "log_level = 3", "[port]\na = 1"],
)
def test_a_file_must_use_the_settings_own_type(file, line):
    (problem,) = problems_of(file=file(line))

    assert re.match(r"\w+ must be", problem)
    assert "idp.toml" in problem


def test_a_file_may_hold_every_type(file):
    text = 'port = 80\ninsecure_http = true\ntrusted_proxies = ["::1"]\nlog_format = "json"\n'

    config = load({}, {}, file(text)).config

    assert (config.port, config.insecure_http) == (80, True)
    assert (config.trusted_proxies, config.log_format) == (("::1",), "json")


@pytest.mark.parametrize("text", ["port = ", "port 80", "port = 1\nport = 2", "\x00"])
def test_a_file_that_is_not_toml_is_refused(file, text):
    (problem,) = problems_of(file=file(text))

    assert "is not TOML" in problem


def test_a_file_that_is_missing_or_not_text_is_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")

    assert "can't be read" in problems_of(file=tmp_path / "missing")[0]
    assert "is not TOML" in problems_of(file=tmp_path / "binary")[0]


def test_what_is_no_setting_is_refused_naming_one_that_is_near(file):
    path = file("prot = 1\n")

    problems = problems_of({"hots": "x"}, {"IDP_FOO": "z", "IDP_ISSUR": "y"}, path)

    assert [each.rpartition(": ")[2] for each in problems] == [
        "prot is not a setting; the nearest is port",
        "IDP_FOO is not a setting",
        "IDP_ISSUR is not a setting; the nearest is IDP_ISSUER",
        "hots is not a setting; the nearest is host",
    ]
    assert str(path) in problems[0]


def test_a_setting_of_an_earlier_release_is_refused_with_what_to_do(file):
    name = "address_failures_before_delay"

    problems = problems_of({}, {f"IDP_{name.upper()}": "20"}, file(f"{name} = 20\n"))

    advice = "is no longer a setting: remove it; address_accounts_before_delay took its place"
    assert len(problems) == 2
    assert all(advice in each for each in problems)


def test_all_problems_are_reported_at_once():
    environment = {"IDP_PORT": "x", "IDP_NONSENSE": "1", "IDP_VENDOR": "Not One"}

    problems = problems_of({"issuer": "ftp://x", "tls_cert": "cert.pem"}, environment)

    assert len(problems) == 5
    assert sum("tls_cert and tls_key" in each for each in problems) == 1


def test_a_rule_says_nothing_about_a_value_that_could_not_be_read():
    environment = {"IDP_SESSION_SECONDS": "x", "IDP_SESSION_IDLE_SECONDS": "5000000"}

    assert len(problems_of(environment=environment)) == 1


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({"tls_cert": "a"}, "tls_cert and tls_key"),
        ({"tls_key": "a"}, "tls_cert and tls_key"),
        ({"store": "postgres://x"}, "store must begin with"),
        ({"store": "memory://", "processes": 2}, "in memory"),
        ({"vendor": "a"}, "vendor"),
        ({"vendor": "Acme"}, "vendor"),
        ({"vendor": "acme-"}, "vendor"),
        ({"default_language": "de_DE"}, "default_language"),
        ({"admin_login_name": "a b"}, "admin_login_name"),
        ({"admin_login_name": "a" * 201}, "admin_login_name"),
        ({"data": " "}, "data"),
        ({"host": " "}, "host"),
        ({"master_key": "a", "master_key_file": "b"}, "not both"),
        ({"session_seconds": 60}, "session_idle_seconds"),
        ({"refresh_token_seconds": 60}, "refresh_token_idle_seconds"),
    ],
)
def test_settings_must_go_together(flags, expected):
    (problem,) = problems_of(flags)

    assert expected in problem


def test_the_store_is_in_the_data_directory_unless_it_is_given():
    assert Config(data="/srv/idp").store == "sqlite:////srv/idp/idp.sqlite3"
    assert Config(store="memory://").store == "memory://"


def test_secrets_are_shown_neither_by_repr_nor_by_describe():
    flags = {
        "master_key": "canary-1",
        "store": "mongodb://user:canary-2@a,b/idp?replicaSet=rs&tlsCertificateKeyFilePassword"
        "=canary-3&authMechanismProperties=AWS_SESSION_TOKEN:canary-4",
    }

    loaded = load(flags, {})

    shown = repr(loaded.config) + repr(describe(loaded))
    assert "canary" not in shown
    assert "mongodb://user:***@a,b/idp?replicaSet=rs&" in shown
    assert loaded.config.store == flags["store"]


def test_a_problem_with_a_secret_does_not_show_it():
    problems = problems_of({"master_key": 12345678, "issuer": "https://u:87654321@example.com"})

    assert len(problems) == 2
    assert "12345678" not in str(problems)
    assert "87654321" not in str(problems)


def test_describe_shows_values_as_the_environment_would_hold_them():
    shown = {
        each.name: each
        for each in describe(
            load({"insecure_http": True}, {"IDP_TRUSTED_PROXIES": "::1,10.0.0.1"})
        )
    }

    assert shown["insecure_http"] == ("insecure_http", "true", "flag --insecure-http")
    assert shown["trusted_proxies"].value == "::1,10.0.0.1"
    assert (shown["tls_cert"].value, shown["master_key"].value) == ("", "")
    assert list(shown) == list(TYPES)


def test_every_number_has_a_range_that_holds_its_default():
    numbers = {name for name, kind in TYPES.items() if kind in (int, float)}

    assert numbers == set(RANGES)
    for name, (least, most) in RANGES.items():
        assert least <= getattr(Config(), name) <= most


def test_every_setting_has_a_line_for_the_operator():
    source = Path(config_module.__file__).read_text(encoding="utf-8")

    for name in TYPES:
        assert re.search(rf"^    {name}: .*  # \S.{{8}}", source, re.MULTILINE), name


def test_settings_can_be_neither_changed_nor_misspelt():
    with pytest.raises(AttributeError):
        Config().port = 1
    with pytest.raises(TypeError):
        Config(prot=1)


@pytest.mark.full
def test_the_module_is_quick_to_import():
    slow = "tomllib difflib cryptography tornado pymongo mako babel argon2 bcrypt asyncio"
    code = f"import sys, idp.config.loading; print(set({slow.split()}) & set(sys.modules))"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "set()\n"

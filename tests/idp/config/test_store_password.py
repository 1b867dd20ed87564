"""The password of the store's user, from a file instead of the URL."""

from __future__ import annotations

import pytest
from pymongo.uri_parser import parse_uri

from idp.config.loading import describe, load
from idp.foundation.errors import ConfigError

HOSTS = "db1,db2/idp?replicaSet=rs0"
ALONE = f"mongodb://login@{HOSTS}"


@pytest.fixture
def file(tmp_path):
    def make(content, mode=0o600):
        path = tmp_path / "password"
        path.touch(0o600)
        path.write_bytes(content)
        path.chmod(mode)
        return path

    return make


def loaded(path, store=ALONE):
    return load({}, {"IDP_STORE": store, "IDP_STORE_PASSWORD_FILE": str(path)})


@pytest.mark.parametrize("password", ["letters", "p@ss:w/rd?#%&+ é"])
def test_the_driver_gets_the_password_of_the_file(file, password):
    store = loaded(file(f"{password}\n".encode())).config.store
    read = parse_uri(store)

    assert (read["username"], read["password"]) == ("login", password)
    assert store.endswith(f"@{HOSTS}")


def test_the_password_is_never_shown(file):
    settings = loaded(file(b"planted"))
    shown = {each.name: each.value for each in describe(settings)}

    assert "planted" in settings.config.store
    assert shown["store"] == f"mongodb://login:***@{HOSTS}"
    assert "planted" not in f"{shown}{settings.config!r}"


@pytest.mark.parametrize(
    "store", [f"mongodb://{HOSTS}", f"mongodb://login:known@{HOSTS}", f"mongodb+srv://{HOSTS}"]
)
def test_a_url_without_a_user_or_with_a_password_is_refused(file, store):
    with pytest.raises(ConfigError, match="must name a user and no password") as refused:
        loaded(file(b"planted"), store)

    assert "planted" not in refused.value.message


@pytest.mark.parametrize("store", ["sqlite:///idp.sqlite3", "memory://"])
def test_a_store_without_users_is_used_as_it_is(tmp_path, store):
    assert loaded(tmp_path / "none", store).config.store == store


@pytest.mark.parametrize(
    ("content", "mode", "problem"),
    [
        (b"", 0o600, "is empty"),
        (b" \n", 0o600, "is empty"),
        (b"\xff", 0o600, "is not UTF-8"),
        (b"planted", 0o644, "is open to others (mode 0644); run: chmod 600 "),
    ],
)
def test_a_file_that_can_not_be_used_is_refused(file, content, mode, problem):
    with pytest.raises(ConfigError) as refused:
        loaded(file(content, mode))

    assert problem in refused.value.message
    assert refused.value.message.startswith("store_password_file ")
    assert "planted" not in refused.value.message


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="store_password_file .* can't be read: No such file"):
        loaded(tmp_path / "none")


def test_the_issuer_that_a_store_remembers_leaves_its_password(file):
    settings = loaded(file(b"planted"))

    assert settings.with_issuer("https://login.example.com").store == settings.config.store

"""A URL picks the back end."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import storage
from storage import Insert, InvalidValue, open_store
from tests.storage.conftest import DEVIATIONS
from tests.storage.records import ALL, USERS, user


def made(url):
    return open_store(url, now=lambda: datetime.now(UTC), new_id=lambda: "id")


@pytest.mark.parametrize("is_absolute", [True, False])
async def test_a_sqlite_path_is_relative_or_absolute(tmp_path, monkeypatch, is_absolute):
    monkeypatch.chdir(tmp_path)
    store = made(f"sqlite:///{tmp_path}/a.db" if is_absolute else "sqlite:///a.db")
    await store.open(ALL)
    await store.close()

    assert (tmp_path / "a.db").exists()


async def test_memory_stores_are_apart_and_leave_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    one, other = made("memory://"), made("memory://")
    await one.open(ALL)
    await other.open(ALL)
    await one.commit(Insert(USERS, user("a")))

    assert await other.get(USERS, "a") is None
    assert len(list(tmp_path.iterdir())) == 2
    await one.close()
    await other.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "idp.db",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://host/path",
        "memory://x",
        "mongodb://",
        "postgres://user:secret@host/db",
    ],
)
def test_any_other_url_is_refused_with_the_schemes_and_without_its_password(url):
    with pytest.raises(InvalidValue) as caught:
        made(url)

    message = str(caught.value)
    assert all(scheme in message for scheme in ("sqlite:///", "memory://", "mongodb"))
    assert "secret" not in message


@pytest.mark.full
def test_sqlite_needs_no_mongodb_driver():
    program = (
        "import sys, storage;"
        "storage.open_store('memory://', now=None, new_id=None);"
        "sys.exit(any(name in sys.modules for name in ('pymongo', 'motor', 'bson')))"
    )
    root = Path(storage.__file__).parents[1]

    assert subprocess.run([sys.executable, "-c", program], cwd=root).returncode == 0


def test_every_public_name_exists():
    assert [name for name in storage.__all__ if not hasattr(storage, name)] == []


def test_every_deviation_of_a_back_end_names_a_test():
    source = "".join(file.read_text() for file in Path(__file__).parents[1].rglob("test_*.py"))

    assert [
        name
        for named in DEVIATIONS.values()
        for name in named
        if f"async def {name}(" not in source
    ] == []

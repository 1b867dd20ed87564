"""The guides' second step, as it is printed: the import of what was made in the first."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.support.management.callers import instance_owner
from tests.support.programs.shell import Shell
from tests.support.transfer.bulk import orgs, package
from tests.support.transfer.moving import Printed

PRINTED = Printed.read()
BODY = json.dumps(package(*orgs(2), timeout="30m"))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("importBody.json").write_text(BODY, encoding="utf-8")


@pytest.mark.full
def test_the_commands_of_the_import_work(tmp_path):
    shell = Shell(tmp_path / "data").install()
    dry, real = (line.removeprefix("idp ") for line in (PRINTED.dry_run, PRINTED.run))

    assert shell.get(*shlex.split(dry), "--get", "created") == "2"
    assert "o1" not in shell.stored()["organizations"]
    assert shell.get(*shlex.split(real), "--get", "created") == "2"
    assert "o1" in shell.stored()["organizations"]
    assert Path("problems.ndjson").read_text(encoding="utf-8") == ""


async def test_the_call_of_the_import_works(server, visitor):
    call = PRINTED.call
    words = shlex.split(call)
    owner = await instance_owner(server, visitor)
    told = dict(re.findall(r"-H ['\"]([^:]+): ([^'\"]+)['\"]", call))
    method, address = words[words.index("-X") + 1 :][:2]
    file = words[words.index("--data-binary") + 1].removeprefix("@")

    page = await visitor.request(
        method,
        address.replace("$ISSUER", ""),
        content=Path(file).read_bytes(),
        headers={name: each.replace("$TOKEN", owner.token) for name, each in told.items()},
    )

    assert page.json()["created"] == 2

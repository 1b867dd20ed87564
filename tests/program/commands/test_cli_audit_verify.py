"""`idp audit verify` and `idp audit erase`: whether the audit log is as it was sealed, and the
erasure of a person's data in it, on the command line."""

from __future__ import annotations

import asyncio
import json

import pytest
from click.testing import CliRunner

from idp.audit import sealing
from idp.cli import main
from idp.records import AUDIT_HEADS, EVENTS
from idp.start import exit_codes
from storage import Delete, Update
from tests.support.programs.shell import Shell
from tests.support.store.auditing import sealed_in, store_events


@pytest.fixture
def shell(tmp_path):
    shell = Shell(tmp_path / "data").install()
    asyncio.run(shell._with_service(sealing.seal))
    return shell


def on_store(shell, work):
    return asyncio.run(shell._with_service(work))


async def forge(service) -> None:
    page = await service.store.find(EVENTS, {"stream": "change"}, order="position", limit=3)
    third = page.records[2]
    await service.store.commit(Update(EVENTS, third.id, set={"actor": "nobody"}))


async def head(service):
    return (await sealing.read_state(service)).heads["change"]


@pytest.mark.full
def test_an_untouched_log_holds_to_its_head(shell):
    position = on_store(shell, head).position
    change, access, failure = shell("audit", "verify").out.splitlines()

    assert change == f"change   holds up to position {position}: {position} events"
    assert access.split(maxsplit=1)[1] == failure.split(maxsplit=1)[1] == "no event was sealed yet"


@pytest.mark.full
def test_the_first_position_that_does_not_hold_is_named(shell):
    on_store(shell, forge)
    ran = shell("audit", "verify", code=1)
    change = shell("audit", "verify", "--json", code=1).json()["streams"][0]

    assert ran.out.startswith("change   position 3 does not hold: the event ")
    assert (change["stream"], change["position"], change["faultPosition"]) == ("change", 2, 3)


@pytest.mark.full
def test_the_log_of_the_service_serves_as_anchors(shell, tmp_path):
    found, log = on_store(shell, head), tmp_path / "idp.log"
    anchor = {"stream": "change", "position": found.position, "chain": found.chain}
    log.write_text(f"started\n{json.dumps({'event': 'audit head', **anchor})}\nan end\n")

    ran = shell("audit", "verify", "--anchor", str(log))
    assert ran.err == f"{log}: 1 anchors, 1 compared\n"

    log.write_text(json.dumps(anchor | {"position": found.position + 1}))
    ran = shell("audit", "verify", "--anchor", str(log), code=1)
    assert "an anchor has events that are not in the store" in ran.out


@pytest.mark.full
@pytest.mark.promise("audit: anchors")
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["for people", "json"])
def test_a_backup_has_the_heads_of_its_moment_as_anchors(shell, tmp_path, form):
    passphrase, file, anchors = tmp_path / "secret", tmp_path / "m.idp", tmp_path / "anchors"
    passphrase.write_text("a passphrase that is long")
    passphrase.chmod(0o600)
    with_passphrase = ("--passphrase-file", str(passphrase))
    shell("backup", "make", str(file), *with_passphrase)
    verified = CliRunner().invoke(main, ["backup", "verify", str(file), *with_passphrase, *form])
    anchors.write_text(verified.stdout)

    ran = shell("audit", "verify", "--anchor", str(anchors))
    assert ran.err == f"{anchors}: 1 anchors, 1 compared\n"

    on_store(shell, remove_newest)
    assert "does not hold" not in shell("audit", "verify").out
    ran = shell("audit", "verify", "--anchor", str(anchors), code=1)
    assert "an anchor has events that are not in the store" in ran.out


async def remove_newest(service) -> None:
    """As somebody can who writes into the database."""
    *_, before, newest = await sealed_in(service, "change")
    head = {"position": before.position, "chain": before.chain}
    await service.store.commit(Delete(EVENTS, newest.id), Update(AUDIT_HEADS, "change", set=head))


@pytest.mark.full
@pytest.mark.parametrize("content", [None, "no anchor\n"])
def test_a_file_without_anchors_is_refused(shell, tmp_path, content):
    file = tmp_path / "anchors"
    if content is not None:
        file.write_text(content)
    ran = shell("audit", "verify", "--anchor", str(file), code=2)

    assert ran.out == ""
    assert str(file) in ran.err


async def store_payloads(service) -> None:
    await store_events(service, 2, "session.opened", payload=[("network", "192.0.2.1")])


@pytest.mark.full
def test_an_erasure_asks_first_and_is_no_fault_of_the_log(shell):
    on_store(shell, store_payloads)
    erase = ("audit", "erase", "--user", "ada")
    refused = shell(*erase, input="n\n", code=1)
    erased = shell(*erase, "--yes")
    access = shell("audit", "verify").out.splitlines()[1]
    unknown = shell("audit", "erase", "--user", "nobody", "--yes", code=exit_codes.NOT_FOUND)

    assert refused.err.startswith("Erase what the audit log has about ada? [y/N]")
    assert erased.err == "2 of the user's 2 events had a payload, which is erased\n"
    assert access == "access   holds up to position 2: 2 events, 2 without their payload"
    assert unknown.err == "idp: there is no event of such a user\n"

"""`idp import`, `idp job`: packages of this machine, gone on with, and sent to a service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal

import pytest

from idp.cli import uploading
from idp.foundation.errors import ConfigError
from idp.records import JOBS
from idp.start import exit_codes
from idp.transfer.jobs import lifecycle as job_lifecycle
from storage import Update
from tests.support.programs.shell import Shell
from tests.support.transfer.bulk import orgs, package

BAD = {"orgId": "bad", "org": {}}


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path / "data").install()


@pytest.fixture
def file(tmp_path):
    return written(tmp_path, package(*orgs(3)))


def written(folder, document, name="package.json"):
    path = folder / name
    path.write_text(json.dumps(document))
    return str(path)


def projects(n):
    """Organizations with a project each: rows of two batches."""
    return [{**org, "projects": [project(org["orgId"])]} for org in orgs(n)]


def roles(n):
    """The same with a role each: rows of three batches."""
    return [
        {**org, "projectRoles": [{"projectId": f"p-{org['orgId']}", "roleKey": "reader"}]}
        for org in projects(n)
    ]


def project(org_id):
    return {"projectId": f"p-{org_id}", "project": {"name": "P"}}


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C is pressed while the first rows are stored."""
    settle = job_lifecycle.Hold.store_outcomes

    async def pressed(hold, settled):
        monkeypatch.setattr(job_lifecycle.Hold, "store_outcomes", settle)
        os.kill(os.getpid(), signal.SIGINT)
        await settle(hold, settled)

    monkeypatch.setattr(job_lifecycle.Hold, "store_outcomes", pressed)


@pytest.mark.full
def test_a_package_is_brought_in_and_its_job_is_reported(shell, file):
    job = shell("import", file, "--format", "json").json()

    assert (job["state"], job["created"]) == ("JOB_STATE_SUCCEEDED", 3)
    assert {f"o{n}" for n in range(3)} < shell.stored()["organizations"].keys()
    assert shell.get("import", file, "--get", "skipped") == "3"
    (first, second) = shell("job", "list", "--format", "json").json()["result"]
    assert shell.get("job", "show", first["id"], "--get", "state") == "JOB_STATE_SUCCEEDED"
    assert shell.get("job", "watch", second["id"], "--get", "skipped") == "3"


@pytest.mark.full
def test_rows_that_failed_end_it_with_3_and_stand_in_the_report(shell, tmp_path):
    file, report = written(tmp_path, package(*orgs(2), BAD)), tmp_path / "report"

    ran = shell("import", file, "--report", str(report), code=exit_codes.ROW_ERRORS)

    (told,) = [json.loads(line) for line in report.read_text().splitlines()]
    assert (told["row"], told["path"], told["slug"]) == (3, "orgs[2].org", "field.required")
    assert report.stat().st_mode & 0o777 == 0o600
    advised = re.search(r"1 rows failed: idp (job errors (\S+) .+)", ran.err)
    (again,) = shell(*advised[1].split(), "--format", "json").json()["result"]
    assert again == told
    shell("job", "watch", advised[2], code=exit_codes.ROW_ERRORS)


@pytest.mark.full
def test_an_import_that_does_not_begin_leaves_the_report_of_another_as_it_is(shell, tmp_path):
    file, report = written(tmp_path, package(*orgs(1), BAD)), tmp_path / "report"
    shell("import", file, "--report", str(report), code=exit_codes.ROW_ERRORS)
    before = report.read_text()

    shell("import", file, "--resume", "--report", str(report), code=exit_codes.NOT_FOUND)
    assert report.read_text() == before != ""


@pytest.mark.promise("import: dry run")
def test_a_dry_run_reports_the_same_and_changes_nothing(shell, tmp_path):
    file = written(tmp_path, package(*orgs(2), BAD))
    before = shell.stored()["organizations"]
    reports = []
    for options in (["--dry-run"], []):
        report = tmp_path / f"report{options}"
        shell("import", file, "--report", str(report), *options, code=exit_codes.ROW_ERRORS)
        reports.append(report.read_text())
        if options:
            assert shell.stored()["organizations"] == before

    assert reports[0] == reports[1]
    assert len(shell.stored()["organizations"]) == len(before) + 2


@pytest.mark.full
def test_what_is_there_changes_only_with_update(shell, file, tmp_path):
    shell("import", file)
    other = written(tmp_path, package(*orgs(3, "New")), "other.json")

    assert shell.get("import", other, "--get", "skipped") == "3"
    assert shell.stored()["organizations"]["o1"].name == "Org 1"
    assert shell.get("import", other, "--update", "--get", "updated") == "3"
    assert shell.stored()["organizations"]["o1"].name == "New 1"


@pytest.mark.full
def test_slips_are_mended_where_that_is_wished(shell, tmp_path):
    name = {"firstName": "Ada ", "lastName": "Lovelace"}
    ada = {"userName": "ada", "profile": name, "email": {"email": "ada@example.com"}}
    acme = {**orgs(1)[0], "humanUsers": [{"userId": "ada", "user": ada}]}
    file, reports = written(tmp_path, package(acme)), []
    for options in (["--dry-run"], []):
        report = tmp_path / f"report{options}"
        shell("import", file, "--fix", "--report", str(report), *options)
        reports.append(report.read_text())

    assert reports[0] == reports[1]
    assert json.loads(reports[1])["slug"] == "import.mended"
    assert shell.stored()["users"]["ada"].profile.given_name == "Ada"


@pytest.mark.full
def test_a_report_that_cannot_be_stored_is_refused_before_anything_is_done(shell, file, tmp_path):
    shell("import", file, "--report", str(tmp_path / "none" / "r"), code=exit_codes.USAGE)

    assert shell.stored()["jobs"] == {}


@pytest.mark.full
def test_a_file_that_is_not_there_is_refused(shell, tmp_path):
    ran = shell("import", str(tmp_path / "none.json"), code=exit_codes.USAGE)

    assert "can't be read" in ran.err


@pytest.mark.full
def test_what_is_no_package_fails(shell, tmp_path):
    ran = shell("import", written(tmp_path, {"orgs": 7}), code=exit_codes.FAILED)

    assert "JOB_STATE_FAILED" in ran.out
    assert "the import failed: orgs: " in ran.err
    assert "resume with" not in ran.err


@pytest.mark.full
@pytest.mark.promise("import: jobs")
def test_who_interrupts_it_goes_on_later_without_doubles(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*roles(3)))

    ran = shell("import", file, "--format", "json", code=exit_codes.INTERRUPTED)
    assert f"idp import {file} --resume" in ran.err
    left = ran.json()
    assert (left["state"], left.get("isHeld", False)) == ("JOB_STATE_INTERRUPTED", False)
    assert left["done"] in (3, 6)  # the batch that was begun meanwhile is finished
    on = shell("import", file, "--resume", "--format", "json").json()

    assert on["id"] == left["id"]
    assert (on["state"], on["created"], on.get("skipped", 0)) == ("JOB_STATE_SUCCEEDED", 9, 0)
    shell("import", file, "--resume", code=exit_codes.NOT_FOUND)


@pytest.mark.full
def test_the_list_shows_that_a_job_waits_for_its_file(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*projects(3)), "all of it.json")
    options = ("--dry-run", "--update", "--fix")
    id = shell.get("import", file, *options, "--get", "id", code=exit_codes.INTERRUPTED)
    on = f"idp import '{file}' --dry-run --update --fix --resume"

    ran = shell("job", "watch", id, code=exit_codes.INTERRUPTED)

    assert f"resume with: {on}" in ran.err
    assert shell.get("job", "show", id, "--get", "resumedBy") == on
    (listed,) = shell("job", "list", "--format", "json").json()["result"]
    assert (listed["state"], listed["source"]) == ("JOB_STATE_INTERRUPTED", file)
    assert (
        shell.get("import", file, *options, "--resume", "--get", "state") == "JOB_STATE_SUCCEEDED"
    )
    assert shell("job", "show", id, "--format", "json").json().get("resumedBy") is None


@pytest.mark.full
@pytest.mark.promise("import: jobs")
def test_a_file_that_has_changed_is_not_gone_on_with(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*projects(3)))
    shell("import", file, code=exit_codes.INTERRUPTED)
    written(tmp_path, package(*projects(4)))

    ran = shell("import", file, "--resume", code=exit_codes.CONFLICT)

    assert "has changed" in ran.err
    assert "o3" not in shell.stored()["organizations"]


@pytest.mark.full
def test_other_options_are_another_import(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*projects(3)))
    shell("import", file, code=exit_codes.INTERRUPTED)

    shell("import", file, "--resume", "--update", code=exit_codes.NOT_FOUND)


@pytest.mark.full
def test_a_file_that_was_moved_is_gone_on_with(shell, tmp_path, interrupted):
    file = tmp_path / "package.json"
    shell("import", written(tmp_path, package(*projects(3))), code=exit_codes.INTERRUPTED)
    moved = file.rename(tmp_path / "moved.json")

    assert shell.get("import", str(moved), "--resume", "--get", "created") == "6"


@pytest.mark.full
def test_one_that_was_cancelled_is_gone_on_with_where_the_file_is(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*projects(3)))
    id = shell.get("import", file, "--get", "id", code=exit_codes.INTERRUPTED)
    assert shell.get("job", "cancel", id, "--get", "state") == "JOB_STATE_CANCELLED"

    refused = shell("job", "resume", id, code=exit_codes.CONFLICT)

    assert "idp import FILE --resume" in refused.err
    assert shell.get("import", file, "--resume", "--get", "created") == "6"


@pytest.mark.full
def test_who_was_killed_is_waited_for_until_nobody_can_be_at_it(shell, tmp_path, interrupted):
    file = written(tmp_path, package(*projects(3)))
    id = shell.get("import", file, "--get", "id", code=exit_codes.INTERRUPTED)

    async def hold(service):
        until = service.clock.now() + job_lifecycle.LEASE / 50
        await service.store.commit(Update(JOBS, id, set={"holder": "dead", "held_until": until}))

    asyncio.run(shell._with_service(hold))

    assert shell.get("import", file, "--resume", "--get", "created") == "6"


@pytest.mark.promise("import: jobs")
def test_a_service_is_sent_the_package_and_watched(start_program, tmp_path):
    program = start_program("--admin-pat", "pat")
    shell = Shell(tmp_path)
    place = {"IDP_URL": program.issuer, "IDP_TOKEN": program.announcement["adminPat"]}
    file, report = written(tmp_path, package(*orgs(400), BAD, timeout="30m")), tmp_path / "report"

    predicted = shell("import", file, "--dry-run", "--fix", code=exit_codes.ROW_ERRORS, **place)
    done = shell("import", file, "--report", str(report), code=exit_codes.ROW_ERRORS, **place)
    again = shell("import", file, "--format", "json", code=exit_codes.ROW_ERRORS, **place)
    refused = shell("import", file, "--resume", code=exit_codes.USAGE, **place)
    nobody = shell("import", file, **{**place, "IDP_TOKEN": "x"}, code=exit_codes.NOT_AUTHORISED)

    assert "400" in predicted.out
    assert json.loads(report.read_text())["row"] == 401
    assert "1 rows failed" in done.err
    assert again.json()["skipped"] == 400
    assert "idp job resume" in refused.err
    assert nobody.out == ""


@pytest.mark.parametrize(
    ("package", "sent"),
    [
        ({"orgs": []}, {"timeout": "1s", "dryRun": True, "orgs": []}),
        ({"timeout": "9m", "orgs": []}, {"timeout": "9m", "dryRun": True, "orgs": []}),
        ({"orgs": [], "timeout": "9m"}, {"timeout": "1s", "dryRun": True, "orgs": []}),
        ({"dryRun": False, "orgs": []}, None),
        ({}, {"timeout": "1s", "dryRun": True}),
        ([1], [1]),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_options_are_put_into_the_envelope(tmp_path, package, sent, indent):
    file = tmp_path / "package.json"
    file.write_text("\n" + json.dumps(package, indent=indent) + "\n")
    options = {"dryRun": True, "update": False}
    if sent is None:
        with pytest.raises(ConfigError, match="dryRun"):
            uploading.upload_parts(file, options)
        return

    parts = uploading.upload_parts(file, options)

    data = parts.start + file.read_bytes()[parts.first : parts.last] + parts.end
    assert json.loads(data) == sent
    assert len(data) == parts.size

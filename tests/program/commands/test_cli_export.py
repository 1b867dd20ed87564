"""`idp export`: a file that is there whole or not at all, for nobody else to read."""

from __future__ import annotations

import json

import pytest

from idp.start import exit_codes
from tests.support.programs.shell import Shell


@pytest.fixture
def shell(tmp_path):
    return Shell(tmp_path / "data").install()


@pytest.mark.full
def test_all_is_written_to_stdout_and_the_counts_elsewhere(shell):
    done = shell("export")

    (organization,) = done.json()["orgs"]
    assert organization["org"]["name"] == "Default"
    assert "exported: 1 organization, 1 domain, 2 " in done.err


@pytest.mark.full
def test_a_file_is_whole_and_its_owners_alone(shell, tmp_path):
    target = tmp_path / "out.json"
    shell("export", "--output", str(target), "--with-passwords", "--with-otp")

    assert target.stat().st_mode & 0o777 == 0o600
    assert json.loads(target.read_bytes())["orgs"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["data", "out.json"]


@pytest.mark.full
def test_a_file_that_is_there_is_replaced_only_on_request(shell, tmp_path):
    target = tmp_path / "out.json"
    target.write_text("precious")

    refused = shell("export", "--output", str(target), code=exit_codes.CONFLICT)
    assert "--overwrite" in refused.err
    assert target.read_text() == "precious"

    shell("export", "--output", str(target), "--overwrite")
    assert json.loads(target.read_bytes())["orgs"]


@pytest.mark.full
def test_an_organization_that_is_not_there_leaves_no_file(shell, tmp_path):
    target = tmp_path / "out.json"
    refused = shell(
        "export", "--org", "nobody", "--output", str(target), code=exit_codes.NOT_FOUND
    )

    assert "no such organization" in refused.err
    assert [each.name for each in tmp_path.iterdir()] == ["data"]


@pytest.mark.full
@pytest.mark.promise("export: excluded_org_ids")
def test_one_that_is_left_out_is_not_there(shell):
    (organization,) = shell("export").json()["orgs"]

    assert shell("export", "--exclude", organization["orgId"]).json() == {"orgs": []}


@pytest.mark.full
def test_the_audit_log_says_where_it_went(shell, tmp_path):
    target = tmp_path / "out.json"
    shell("export", "--output", str(target))
    shell("export")

    events = [one for one in shell.stored()["events"].values() if one.type == "export.made"]
    told = {dict(one.payload)["destination"] for one in events}
    assert told == {f"file {target}", "stdout"}

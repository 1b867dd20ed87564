"""The first hour of an administrator, by the scripts in examples/first-hour, from nothing."""

from __future__ import annotations

import configparser
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.test_authlib import NONCE, VERIFIER, AsyncOAuth2Client, discovered, verified
from tests.interop.test_authlib import create_s256_code_challenge as challenge_of
from tests.support import patience

SCRIPTS = Path(__file__).parents[2] / "examples" / "first-hour"
SECRETS = ("anna.password", "max.password", "grafana.secret", "nightly.token")
STYLES = {"InHeader": "client_secret_basic", "InParams": "client_secret_post"}


def run(script, issuer, directory):
    """Run the script as a person would, beside the service; how it ended."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", str(SCRIPTS / script)],
        cwd=directory,
        env={"PATH": programs, "IDP_URL": issuer},
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )


def grafana(directory) -> dict:
    """What Grafana reads of its configuration."""
    config = configparser.RawConfigParser()
    config.read(directory / "grafana.ini")
    found = dict(config["auth.generic_oauth"])
    assert found["client_secret"] == "$__env{CLIENT_SECRET}"
    found["client_secret"] = (directory / "grafana.secret").read_text().strip()
    found["redirect_uri"] = config["server"]["root_url"] + "login/generic_oauth"
    return found


@pytest.mark.parametrize("script", ["curl.sh", pytest.param("cli.sh", marks=pytest.mark.load)])
async def test_the_hour_ends_with_a_sign_in_by_the_configuration_that_it_printed(
    start_program, open_browser, tmp_path, script
):
    program = start_program("--admin-pat", "admin.pat")
    done = run(script, program.issuer, tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    settings, browser = grafana(tmp_path), open_browser(program)
    client = AsyncOAuth2Client(
        settings["client_id"],
        settings["client_secret"],
        redirect_uri=settings["redirect_uri"],
        scope=settings["scopes"],
        token_endpoint_auth_method=STYLES[settings["auth_style"]],
    )
    url, state = client.create_authorization_url(
        settings["auth_url"],
        nonce=NONCE,
        code_challenge=challenge_of(VERIFIER),
        code_challenge_method="S256",
    )

    password = (tmp_path / "max.password").read_text().strip()
    page = await browser.sign_in(url, "max", password)
    tokens = await client.fetch_token(
        settings["token_url"], code=page.answer["code"], code_verifier=VERIFIER
    )
    person = (await client.get(settings["api_url"])).json()
    await client.aclose()

    claims = await verified(await discovered(program), tokens["id_token"], client.client_id)
    assert page.answer["state"] == state
    assert claims["nonce"] == NONCE
    assert tokens["refresh_token"]
    assert person[settings["login_attribute_path"]] == "max"
    assert person[settings["email_attribute_path"]] == "max@acme.example"
    assert claims[settings["groups_attribute_path"]] == ["admin"]
    changes = [json.loads(line) for line in (tmp_path / "audit.ndjson").read_text().splitlines()]
    assert {"organization.created", "pat.created", "application.created"} <= {
        each["type"]["type"] for each in changes
    }
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in SECRETS} == {0o600}


@pytest.mark.parametrize("script", ["curl.sh", "cli.sh"])
def test_a_second_hour_in_the_same_directory_loses_no_password(tmp_path, script):
    for name in ("admin.pat", "anna.password"):
        (tmp_path / name).write_text("kept")

    done = run(script, "http://localhost:1", tmp_path)

    assert done.returncode != 0
    assert (tmp_path / "anna.password").read_text() == "kept"

"""The running program sends its traces to a collector, and no secret and no name with them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from tests.support import patience

pytest.importorskip("opentelemetry.sdk")

from tests.support.browsers.visitor import Visitor
from tests.support.programs.in_process import run
from tests.support.programs.program import Program, environment
from tests.support.servers.collector import Collector

pytestmark = pytest.mark.full

# Names and secrets of whoever meets the service: none of them may reach a span.
PLANTED = {
    "header": {
        "User-Agent": "planted-agent",
        "Referer": "https://planted-referer.example/",
        "Accept-Language": "en, planted-language",
        "X-Secret": "planted-header",
        "Forwarded": "for=203.0.113.77",
        "X-Forwarded-For": "203.0.113.78",
        "Cookie": "planted=planted-cookie",
        "tracestate": "planted=planted-tracestate",
        "baggage": "user=planted-baggage",
    },
    "query": {
        "state": "planted-state",
        "nonce": "planted-nonce",
        "login_hint": "planted-hint@example.com",
        "acr_values": "planted-acr",
        "unknown": "planted-parameter",
        "code_challenge": "planted-challenge-of-43-characters-and-more-0",
    },
    "form": {
        "client_secret": "planted-secret",
        "client_id": "planted-client",
        "code": "planted-code",
        "code_verifier": "planted-verifier",
        "refresh_token": "planted-refresh",
        "username": "planted-user",
        "password": "planted-password",
        "assertion": "planted-assertion",
        "token": "planted-token",
    },
}


def planted_values():
    return {value for group in PLANTED.values() for value in group.values()}


class Recorded:
    """What a program with two workers sent of one sign-in and of mistaken requests."""

    def __init__(self, directory):
        self.collector = Collector()
        self.request_ids = []
        self.secrets = set(planted_values())
        headers = directory / "headers"
        headers.write_text("authorization=Bearer planted-collector\n\nx-tenant = 4711\n")
        self.settings = {
            "IDP_OTLP_ENDPOINT": self.collector.url + "/",
            "IDP_OTLP_HEADERS_FILE": str(headers),
            "IDP_TRACE_RATIO": "1",
            "IDP_PROCESSES": "2",
            "IDP_LOG_FORMAT": "json",
        }
        self.program = Program(directory, **self.settings)

    async def _note(self, response):
        self.request_ids.append(response.headers["X-Request-Id"])

    async def sign_in(self):
        program = self.program
        hooks = {"response": [self._note]}
        visitor = Visitor(program.issuer, timeout=patience.SECONDS, event_hooks=hooks)
        demo, user = program.demo(), program.user
        tokens = await demo.tokens(visitor, *user, scope="openid profile email offline_access")
        who = (await demo.userinfo(visitor, tokens["access_token"])).json()
        await demo.refresh(visitor, tokens["refresh_token"])
        self.secrets |= {value for value in tokens.values() if isinstance(value, str)}
        self.secrets -= {"Bearer", tokens["scope"]}
        self.secrets |= {who["sub"], user[1], demo.client_secret, "planted-collector"}
        self.secrets |= {value for value in visitor.cookies.values() if value}
        await self._mistakes(visitor, demo)
        await visitor.close()

    async def _mistakes(self, visitor, demo):
        visitor.may_fail = True
        headers, form = PLANTED["header"], PLANTED["form"]
        wrong = {**form, "grant_type": "authorization_code"}
        await visitor.get(demo.authorize_url(**PLANTED["query"]), headers=headers)
        await visitor.post("/oauth/v2/token", wrong, headers=headers)
        await visitor.post("/oauth/v2/token", wrong, headers=headers | demo.basic())
        await visitor.post("/oauth/v2/introspect", form, headers=headers | demo.basic())
        bearer = {"Authorization": "Bearer planted-bearer"}
        await visitor.get("/oidc/v1/userinfo", headers=headers | bearer)
        await visitor.get("/v2/users/planted-id?q=planted-q", headers=headers | bearer)
        await visitor.get("/planted-path", headers=headers)
        page = await visitor.open(demo.authorize_url())
        await visitor.submit(page, loginName="planted-login@example.com")
        page = await visitor.open(demo.authorize_url())
        page = await visitor.submit(page, loginName=self.program.user[0])
        await visitor.submit(page, password="planted-wrong-password")
        self.secrets |= {
            *("planted-bearer", "planted-id", "planted-q", "planted-path"),
            *("planted-login@example.com", "planted-wrong-password"),
        }


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    recorded = Recorded(tmp_path_factory.mktemp("traces"))
    recorded.program.start()
    try:
        asyncio.run(recorded.sign_in())
        recorded.program.stop()
    finally:
        recorded.program.kill()
    yield recorded
    recorded.collector.close()


def test_each_request_of_a_sign_in_is_one_trace(recorded):
    spans = recorded.collector.spans
    servers = {
        span.attributes["idp.request_id"]: span
        for span in spans
        if span.kind == "SERVER" and span.attributes["idp.request_id"] in recorded.request_ids
    }

    assert len(recorded.request_ids) >= 20
    assert set(servers) == set(recorded.request_ids)
    assert len({span.trace for span in servers.values()}) == len(servers)
    assert {span.parent for span in servers.values()} == {""}
    names = {span.name for span in servers.values()}
    assert {"GET /oauth/v2/authorize", "POST /ui/login/password", "POST /oauth/v2/token"} <= names


def test_a_batch_is_linked_with_the_commits_that_wait_for_it(recorded):
    commits = {span.id: span for span in recorded.collector.named("store.commit")}
    batches = recorded.collector.named("store.batch")

    assert batches
    for batch in batches:
        for waiter in [batch.parent, *batch.links]:
            assert batch.id in commits[waiter].links


def test_a_trace_holds_what_its_request_waited_for(recorded):
    (signed_in, *_) = recorded.collector.named("POST /ui/login/password")
    names = {span.name for span in recorded.collector.of_trace(signed_in.trace)}

    assert names == {
        "POST /ui/login/password",
        "store.read",
        "store.commit",
        "store.batch",
        "hash",
    }


def test_every_worker_exports_its_own(recorded):
    described = {each["service.instance.id"] for each in recorded.collector.resources}

    assert 1 <= len(described) <= 2
    assert {each["service.name"] for each in recorded.collector.resources} == {"idp"}
    assert {each["authorization"] for each in recorded.collector.headers} == {
        "Bearer planted-collector"
    }
    assert {each["x-tenant"] for each in recorded.collector.headers} == {"4711"}


def test_no_secret_and_no_name_is_in_a_span(recorded):
    sent = b"".join(recorded.collector.bodies)
    found = {secret for secret in recorded.secrets if secret.encode() in sent}

    assert len(recorded.secrets) >= 30
    assert found == set()
    assert b"planted" not in sent
    assert b"127.0.0.1" not in sent


def test_log_lines_have_the_trace_of_their_request(recorded):
    traces = {
        span.attributes["idp.request_id"]: (span.trace, span.id)
        for span in recorded.collector.spans
        if span.kind == "SERVER"
    }
    lines = [json.loads(each) for each in recorded.program.errors if each.startswith("{")]
    requests = [each for each in lines if each["event"] == "request"]

    assert len(requests) >= 20
    assert all(
        traces[each["request_id"]] == (each["trace_id"], each["span_id"]) for each in requests
    )
    assert "planted-collector" not in recorded.program.printed


def test_config_show_does_not_show_the_headers(recorded, tmp_path):
    shown = run(tmp_path, "config", "show", "--origin", **recorded.settings)

    assert shown.returncode == 0, shown.stderr
    assert "otlp_headers_file" in shown.stdout
    assert "planted-collector" not in shown.stdout + shown.stderr


def test_unusable_headers_are_refused_at_the_start_and_not_shown(tmp_path):
    file = tmp_path / "headers"
    file.write_text("a=b\nplanted\n")
    settings = {"IDP_OTLP_ENDPOINT": "http://127.0.0.1:4318", "IDP_OTLP_HEADERS_FILE": str(file)}
    ended = run(tmp_path, "serve", "--port", "0", **settings)

    assert ended.returncode == 2
    assert "otlp_headers_file: line 2 is not name=value" in ended.stderr
    assert "planted" not in ended.stderr


def test_an_endpoint_without_the_libraries_is_refused_at_the_start(tmp_path):
    # An entry of None makes Python treat a package as missing.
    without = "import sys; sys.modules['opentelemetry'] = None; from idp.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-P", "-c", without, "serve", "--port", "0"],
        cwd=tmp_path,
        env=environment(IDP_OTLP_ENDPOINT="http://127.0.0.1:4318"),
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
    )

    assert ended.returncode == 2
    assert "install idp[otel]" in ended.stderr
    assert not (tmp_path / "idp-data").exists()

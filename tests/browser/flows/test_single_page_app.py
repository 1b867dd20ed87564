"""An application that runs in the browser alone, with oidc-client-ts, at an origin of its own."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from idp.clients import presets
from tests.interop import node
from tests.support.skips import skip

SOURCE = Path(__file__).parents[2] / "interop" / "npm"
LIBRARY = "node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js"


class Files(SimpleHTTPRequestHandler):
    """The application's files, from the directory where its packages are."""

    settings: dict = {}

    def do_GET(self):
        if self.path == "/settings.json":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(self.settings).encode())
        else:
            super().do_GET()

    def translate_path(self, path):
        name = path.partition("?")[0].lstrip("/")
        return str(Path(self.directory) / (LIBRARY if name == Path(LIBRARY).name else name))

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def directory():
    try:
        return node.install(node.find(), SOURCE)
    except node.NoNode as error:
        skip(error)


@pytest.fixture(scope="module")
def serve(directory):
    """Serves the application at an origin of its own: its address, and its settings to be."""
    servers = []

    def start(files=Files):
        settings = {}
        files = type("TheseFiles", (files,), {"settings": settings})
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(files, directory=str(directory)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/single_page.html", settings

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def application(program, serve):
    """The registered application's address."""
    address, settings = serve()
    places = {"redirectUris": [address], "postLogoutRedirectUris": [address]}
    wanted = presets.expand("spa", address) | places
    settings |= {"authority": program.issuer, "client_id": registered(program, wanted)}
    return address


def registered(program, wanted) -> str:
    """Register an application with these settings of the preset; its client_id."""
    token = (program.directory / "admin.pat").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{program.issuer}/management/v1", headers=headers) as api:
        project = api.post("/projects", json={"name": "In the browser"}).raise_for_status().json()
        body = wanted | {"name": "Single-page application"}
        made = api.post(f"/projects/{project['id']}/apps/oidc", json=body)
        return made.raise_for_status().json()["clientId"]


def application_state(person, step) -> dict:
    """What the application shows once it is that far."""
    person.page.wait_for_function(
        'step => document.getElementById(\'told\')?.textContent.includes(`"step":"${step}"`)',
        arg=step,
    )
    return json.loads(person.page.locator("#told").inner_text())


def userinfo(program, token) -> int:
    """The status of the answer to whoever has the token."""
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{program.issuer}/oidc/v1/userinfo", headers=headers).status_code


@pytest.fixture
def visitor(new_person, application):
    """Somebody who has opened the application."""
    person = new_person()
    person.page.goto(application)
    assert "access_token" not in application_state(person, "ready")
    return person


def sign_in(person) -> dict:
    with person.page.expect_navigation():
        person.page.click("#in")
    person.sign_in(*person.program.user)
    return application_state(person, "signed in")


@pytest.mark.promise("scripts: origins")
def test_a_single_page_app_signs_in_refreshes_and_signs_out(program, visitor):
    first = sign_in(visitor)
    visitor.page.click("#refresh")
    second = application_state(visitor, "refreshed")
    is_alive = userinfo(program, second["access_token"]) == 200
    with visitor.page.expect_navigation():
        visitor.page.click("#out")
    application_state(visitor, "signed out")

    assert first["profile"]["email"] == "dana@example.com"
    assert second["access_token"] != first["access_token"]
    assert second["refresh_token"] != first["refresh_token"]
    assert is_alive
    assert userinfo(program, second["access_token"]) == 401


def test_a_single_page_app_revokes_its_tokens(program, visitor):
    first = sign_in(visitor)
    visitor.page.click("#revoke")
    application_state(visitor, "revoked")
    refreshing = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    refreshing["client_id"] = first["profile"]["aud"]
    refreshed = httpx.post(f"{program.issuer}/oauth/v2/token", data=refreshing)

    assert userinfo(program, first["access_token"]) == 401
    assert (refreshed.status_code, refreshed.json()["error"]) == (400, "invalid_grant")


READ = """async ([url, token]) => {
  try {
    return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status
  } catch (error) {
    return error.name
  }
}"""


@pytest.mark.promise("scripts: origins")
def test_a_script_at_an_origin_that_nobody_registered_reads_nothing(program, visitor, serve):
    token = sign_in(visitor)["access_token"]
    asked = [f"{program.issuer}/oidc/v1/userinfo", token]
    here = visitor.page.evaluate(READ, asked)
    visitor.page.goto(serve()[0].replace("single_page.html", "single_page.js"))
    elsewhere = visitor.page.evaluate(READ, asked)

    assert (here, elsewhere) == (200, "TypeError")


GUIDE = """<!doctype html>
<title>The page of the guide</title>
<script type="importmap">{"imports": {
  "oidc-client-ts": "/node_modules/oidc-client-ts/dist/esm/oidc-client-ts.js",
  "jwt-decode": "/node_modules/jwt-decode/build/esm/index.js"
}}</script>
<button id="in">Sign in</button>
<p id="told"></p>
<script type="module">
import { users } from "/users.js"
document.getElementById("in").addEventListener("click", () => users.signinRedirect())
const isBack = location.pathname === "/callback"
const { profile, access_token } = (isBack && await users.signinRedirectCallback()) || {}
const told = { step: isBack ? "signed in" : "ready", profile, access_token }
document.getElementById("told").textContent = JSON.stringify(told)
</script>
"""


class GuideFiles(Files):
    """The page of the guide at / and at /callback, with the guide's own file beside it."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path in ("/", "/callback"):
            self._send("text/html", GUIDE)
        elif path == "/users.js":
            self._send("text/javascript", self.settings["users.ts"])
        else:
            super().do_GET()

    def translate_path(self, path):
        return SimpleHTTPRequestHandler.translate_path(self, path)

    def _send(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


def test_the_file_of_the_guide_signs_in(program, new_person, serve):
    page, settings = serve(GuideFiles)
    base = page.rpartition("/")[0]
    client_id = registered(program, presets.expand("spa", base))
    settings["users.ts"] = presets.configuration("spa", program.issuer, client_id, base)
    person = new_person()
    person.page.goto(f"{base}/")
    before = application_state(person, "ready")
    after = sign_in(person)

    assert "access_token" not in before
    assert after["profile"]["email"] == "dana@example.com"
    assert userinfo(program, after["access_token"]) == 200


OIDC_SPA = """<!doctype html>
<title>The page of the guide for oidc-spa</title>
<script type="importmap">{"imports": {
  "oidc-spa/core": "/node_modules/oidc-spa/esm/core/index.mjs"
}}</script>
<button id="in">Sign in</button>
<button id="refresh">Refresh</button>
<button id="out">Sign out</button>
<p id="told"></p>
<script type="module">
import { oidc } from "/oidc.js"
async function tell(step) {
  const tokens = oidc.isUserLoggedIn ? await oidc.getTokens() : {}
  const told = { step, profile: tokens.decodedIdToken, access_token: tokens.accessToken }
  document.getElementById("told").textContent = JSON.stringify(told)
}
const on = (id, act) => document.getElementById(id).addEventListener("click", act)
on("in", () => oidc.login())
on("refresh", async () => { await oidc.renewTokens(); await tell("refreshed") })
on("out", () => oidc.logout({ redirectTo: "home" }))
await tell(oidc.isUserLoggedIn ? "signed in" : "ready")
</script>
"""


class OidcSpaFiles(GuideFiles):
    """The page of the guide for oidc-spa at /, with the guide's own file beside it."""

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path == "/":
            self._send("text/html", OIDC_SPA)
        elif path == "/oidc.js":
            self._send("text/javascript", self.settings["oidc.ts"])
        else:
            super().do_GET()


def test_the_file_of_the_guide_for_oidc_spa_signs_in_refreshes_and_signs_out(
    program, new_person, serve
):
    page, settings = serve(OidcSpaFiles)
    base = page.rpartition("/")[0]
    client_id = registered(program, presets.expand("oidc-spa", base))
    settings["oidc.ts"] = presets.configuration("oidc-spa", program.issuer, client_id, base)
    person = new_person()
    person.page.goto(f"{base}/")
    before = application_state(person, "ready")
    first = sign_in(person)
    person.page.click("#refresh")
    second = application_state(person, "refreshed")
    person.page.reload()
    third = application_state(person, "signed in")
    with person.page.expect_navigation():
        person.page.click("#out")
    after = application_state(person, "ready")
    with person.page.expect_navigation():
        person.page.click("#in")

    assert "access_token" not in before | after
    assert first["profile"]["sub"] == second["profile"]["sub"] == third["profile"]["sub"]
    assert first["access_token"] != second["access_token"]
    assert userinfo(program, third["access_token"]) == 401
    assert person.name == "login-name"

"""What the console and presets send for a new application, beyond what the API takes by itself."""

from __future__ import annotations

import pytest

from idp.clients import presets
from idp.records import APPLICATIONS
from tests.handlers.console.test_console_applications import register
from tests.support.management import console

# How each tool's own configuration switches PKCE on; the others always send it.
_MARKS = {
    "flask": '"code_challenge_method": "S256"',
    "django": "OIDC_USE_PKCE = True",
    "nextjs": 'checks: ["pkce"',
    "node": "code_challenge: await client",
    "aspnet": "options.UsePkce = true",
    "oauth2-proxy": 'code_challenge_method = "S256"',
    "nginx": 'code_challenge_method = "S256"',
    "caddy": 'code_challenge_method = "S256"',
    "apache": "OIDCPKCEMethod S256",
    "grafana": "use_pkce = true",
    "gitlab": "pkce: true",
    "nextcloud": "use_pkce --value=true",
    "jenkins": "pkceEnabled: true",
    "go": "oauth2.S256ChallengeOption(pkce)",
    "allauth": '"OAUTH_PKCE_ENABLED": True',
}
_ALWAYS = {"express", "spa", "oidc-spa", "native", "cli", "kubernetes"}
_NEVER = {"spring", "passport", "flask-oidc", "social-auth"}


@pytest.mark.promise("security: requirePkce")
@pytest.mark.parametrize("name", presets.all_presets())
def test_a_preset_requires_pkce_unless_its_library_does_not_send_it(name):
    preset, text = presets.find(name), presets.all_presets()[name].configuration
    settings = presets.expand(name, "app.example")

    if preset.kind != "api":
        assert preset.pkce is (name in _ALWAYS or _MARKS.get(name, "\0") in text)
        assert preset.pkce is (name not in _NEVER)
        assert settings["requirePkce"] is preset.pkce


@pytest.mark.full
@pytest.mark.promise("security: requirePkce")
@pytest.mark.parametrize(
    ("query", "values", "expected"),
    [
        ("kind=web", {"redirectUris": "https://a.example/cb"}, (True, 60)),
        ("kind=user_agent", {"redirectUris": "https://a.example/cb"}, (True, 60)),
        ("preset=grafana", {"host": "metrics.example"}, (True, 60)),
        ("preset=spring", {"host": "shop.example"}, (False, 60)),
        ("preset=spa", {"host": "shop.example"}, (True, 60)),
    ],
)
async def test_the_console_sends_it_for_a_new_application(
    server, visitor, query, values, expected
):
    await console.admin(server, visitor)
    page = await register(visitor, query, name="New one", **values)
    made = [one async for one in server.store.scan(APPLICATIONS) if one.name == "New one"]

    assert page.status == 200, page.text
    assert [(one.requires_pkce, one.refresh_token_reuse_seconds) for one in made] == [expected]

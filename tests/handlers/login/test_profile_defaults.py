"""What each profile's defaults are to people, and what counts more: a setting that is given, the
installation's policy, the organization's."""

from __future__ import annotations

import pytest

from idp.config.settings import Config
from idp.identity.users import lookup as user_lookup
from idp.management.policies import policies
from idp.policies import effective
from idp.records import APPLICATIONS, POLICIES, USERS, ComplexityRules, LoginRules
from storage import Insert
from tests.program.first_starts.starts import again, make_ready
from tests.support.sign_in.steps import Seen, text_of

PUBLIC_ISSUER = "https://login.example.com"
LAYERS = ["default", "setting", "installation", "organization"]


@pytest.fixture(params=["trial", "public"])
def profile(request):
    return request.param


@pytest.fixture(params=LAYERS)
def layer(request):
    """The strongest of the layers that say something; all weaker ones do, too."""
    return request.param


def layered(layer, *values):
    """Each layer up to this one, and what it says."""
    return dict(zip(LAYERS[: LAYERS.index(layer) + 1], values, strict=False))


async def store_policy(server, org_id, rules, kind):
    record = policies.new(org_id, rules, server.clock.now(), kind)
    await server.store.commit(Insert(POLICIES, record))


async def home_of(server):
    user = await user_lookup.find_by_login_name(server.service, server.user[0])
    return user.org_id


class TestSelfRegistration:
    @pytest.fixture
    def said(self, profile, layer):
        is_open = profile == "trial"
        return layered(layer, is_open, not is_open, is_open, not is_open)

    @pytest.fixture
    def settings(self, profile, said):
        given = {"self_registration": said["setting"]} if "setting" in said else {}
        return {"profile": profile} | given

    async def test_it_is_offered_as_the_strongest_says(self, visitor, demo, server, said, layer):
        for name, org_id in (("installation", None), ("organization", await home_of(server))):
            if name in said:
                rules = LoginRules(allow_register=said[name])
                await store_policy(server, org_id, rules, "login")
        page = await visitor.open(demo.authorize_url())
        asked = await visitor.open(demo.authorize_url(prompt="create"))
        is_open = said[layer]

        assert bool([link for link in Seen(page).links if "register" in link]) is is_open
        assert asked.name == ("register" if is_open else "login-name")


class TestPasswordLength:
    @pytest.fixture
    def said(self, profile, layer):
        return layered(layer, 8 if profile == "trial" else 15, 11, 13, 17)

    @pytest.fixture
    def settings(self, profile, said):
        given = {"password_min_length": said["setting"]} if "setting" in said else {}
        return {"profile": profile, "self_registration": True} | given

    async def test_people_are_held_to_the_strongest(self, visitor, demo, server, said, layer):
        for name, org_id in (("installation", None), ("organization", await home_of(server))):
            if name in said:
                rules = ComplexityRules(min_length=said[name])
                await store_policy(server, org_id, rules, "password_complexity")
        page = await visitor.open(demo.authorize_url(prompt="create"))
        form = {"givenName": "Nora", "familyName": "Nu", "email": "nora@example.org"}
        words = "kettles hum seven"
        short = await visitor.submit(page, **form, newPassword=words[: said[layer] - 1])
        enough = await visitor.submit(page, **form, newPassword=words[: said[layer]])

        assert f"at least {said[layer]} characters" in text_of(page)
        assert (short.status, short.name) == (400, "register")
        assert f"Use at least {said[layer]} characters." in text_of(short)
        assert enough.name == "verify-email"


class TestPasswordStrength:
    """The least strength; an organization's policy only asks for more than the installation's."""

    @pytest.fixture
    def said(self, profile, layer):
        return layered(layer, 0 if profile == "trial" else 3, 1, 2, 4)

    @pytest.fixture
    def settings(self, profile, said):
        given = {"password_min_strength": said["setting"]} if "setting" in said else {}
        return {"profile": profile} | given

    async def test_it_is_that_of_the_strongest(self, server, said, layer):
        org_id = await home_of(server)
        for name, id in (("installation", None), ("organization", org_id)):
            if name in said:
                rules = ComplexityRules(min_strength=said[name])
                await store_policy(server, id, rules, "password_complexity")
        rules = await effective.complexity(server.service, org_id)

        assert rules.min_strength == said[layer]


class TestPasswordLengthWithFactor:
    """The length with a second factor; an organization's policy only asks for more."""

    @pytest.fixture
    def said(self, layer):
        return layered(layer, 8, 9, 10, 12)

    @pytest.fixture
    def settings(self, profile, said):
        given = {"password_min_length_with_factor": said["setting"]} if "setting" in said else {}
        return {"profile": profile, "password_min_length": 15} | given

    async def test_it_is_that_of_the_strongest(self, server, said, layer):
        org_id = await home_of(server)
        for name, id in (("installation", None), ("organization", org_id)):
            if name in said:
                rules = ComplexityRules(min_length=15, min_length_with_factor=said[name])
                await store_policy(server, id, rules, "password_complexity")
        rules = await effective.complexity(server.service, org_id)

        assert effective.min_length(rules, has_factor=True) == said[layer]
        assert effective.min_length(rules, has_factor=False) == 15


class TestOthersPasswords:
    """What is set for people is judged by the policy, and without one as ever."""

    @pytest.fixture
    def settings(self, profile):
        return {"profile": profile}

    async def test_a_setting_for_people_does_not_hold_for_them(self, server):
        org_id = await home_of(server)
        before = await effective.initial_complexity(server.service, org_id)
        await store_policy(server, None, ComplexityRules(min_length=12), "password_complexity")
        after = await effective.initial_complexity(server.service, org_id)

        assert (before.min_length, after.min_length) == (8, 12)


async def test_a_first_start_is_a_trial_with_its_demo(visitor, demo, server):
    tokens = await demo.tokens(visitor, *server.user)

    assert not server.service.config.is_public
    assert server.start.demo is not None
    assert "id_token" in tokens


@pytest.mark.promise("start: profiles")
async def test_a_public_issuer_changes_defaults_and_nothing_that_is_stored(server):
    """The same store, later under a public issuer, as an earlier release has left it."""
    org_id = await home_of(server)
    await store_policy(server, org_id, ComplexityRules(min_length=9), "password_complexity")
    await store_policy(server, None, LoginRules(allow_register=True), "login")
    before = [one async for one in server.store.scan(POLICIES)]
    people = [one async for one in server.store.scan(USERS) if one.user_name != "demo"]
    fresh = Config(issuer=PUBLIC_ISSUER)
    names = ("self_registration", "password_min_length", "pat_max_days")
    moved = again(server, issuer=PUBLIC_ISSUER, **{name: getattr(fresh, name) for name in names})
    await make_ready(moved)

    assert (await effective.login(moved.service, org_id)).allow_register is True
    rules = await effective.complexity(moved.service, org_id)
    assert rules.min_length == 9
    built_in = effective.built_in(moved.service.config, "login")
    assert built_in.allow_register is False
    assert [one async for one in server.store.scan(POLICIES)] == before
    assert [one async for one in server.store.scan(USERS) if one.user_name != "demo"] == people
    assert await server.store.get(APPLICATIONS, server.start.demo.client_id)

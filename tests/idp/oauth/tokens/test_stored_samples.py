"""Tokens that the service issued before its code was rearranged: they verify still, and the same
authorization gives the same token, claim by claim and in the same order."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from idp.config.settings import Config
from idp.identity.users.subjects import Subject
from idp.keys.key_ring import LoadedKey
from idp.oauth.tokens import access_tokens, id_tokens, token_response, validity
from idp.oauth.tokens.authorizations import AuthorizedClient
from idp.oauth.tokens.dependencies import to_claims
from idp.oauth.tokens.validity import Client
from idp.records import (
    APPLICATIONS,
    AUTHORIZATIONS,
    INSTANCE_ID,
    INSTANCES,
    ORGANIZATIONS,
    PROJECTS,
    SESSIONS,
    USERS,
    AccessGrounds,
    Actor,
    Application,
    ApplicationUse,
    Authorization,
    Instance,
    Organization,
    Profile,
    Project,
    Session,
    SigningKey,
    User,
)
from storage.following import Following
from tests.support.random import SeededRandom

SAMPLES = json.loads(Path(__file__).with_name("samples.json").read_text(encoding="utf-8"))
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ISSUER = "https://login.example"
GROUNDS = AccessGrounds(project_id="project", everybody="open", role_not_required="no-role")
INSTANCE = Instance(id=INSTANCE_ID, stamp="s-instance", key_check="", org_id="org", created_at=NOW)
ORGANIZATION = Organization(
    id="org",
    name="Acme",
    name_key="acme",
    primary_domain="acme.example",
    stamp="s-org",
    created_at=NOW,
    changed_at=NOW,
)
USER = User(
    id="user",
    org_id="org",
    kind="human",
    user_name="max",
    login_key="max",
    stamp="s-user",
    profile=Profile(display_name="Max"),
    created_at=NOW,
    changed_at=NOW,
)
APPLICATION = Application(
    id="client",
    project_id="project",
    org_id="org",
    name="Web",
    auth_method="none",
    redirect_uris=[],
    stamp="s-client",
    created_at=NOW,
    changed_at=NOW,
    signing_algorithm="EdDSA",
    everybody_stamp="op",
)
PROJECT = Project(
    id="project",
    org_id="org",
    name="P",
    created_at=NOW,
    changed_at=NOW,
    everybody_stamp="en",
    no_role_stamp="no-role",
)
SUBJECT = Subject(instance=INSTANCE, organization=ORGANIZATION, user=USER)
CLIENT = Client(APPLICATION, ORGANIZATION)
OF_SIGN_IN = Authorization(
    id="authorization",
    grant="code",
    client_id="client",
    client_org_id="org",
    user_id="user",
    org_id="org",
    session_id="session",
    scopes=["openid", "email"],
    audience=["client", "project"],
    auth_time=NOW,
    amr=["pwd", "otp", "mfa"],
    acr="urn:idp:acr:2",
    nonce="n-0S6",
    stamps=validity.stamps_of(INSTANCE, SUBJECT, CLIENT),
    created_at=NOW,
    expires_at=NOW,
    grounds=GROUNDS,
)
# Every field that a token exchange fills in; `acting_ends_at` is what bounds the lifetime.
OF_EXCHANGE = msgspec.structs.replace(
    OF_SIGN_IN,
    id="exchanged",
    grant="exchange",
    session_id=None,
    actor=Actor(iss=ISSUER, sub="actor", act=Actor(iss=ISSUER, sub="first-actor")),
    actor_org_ids=["org-of-actor", "org-of-first-actor"],
    acting_ends_at=datetime(2026, 1, 2, 3, 9, 5, tzinfo=UTC),
    expires_at=datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC),
    parent_ids=["authorization", "another"],
    parent_session_ids=["session", "session-of-actor"],
    parent_token_ids=["token", "token-of-actor"],
    parent_pat_ids=["pat"],
    parent_clients=[("client-of-actor", "org-of-actor")],
    parent_uses=[
        ApplicationUse(
            user_id="actor",
            user_org_id="org-of-actor",
            client_id="client-of-actor",
            client_org_id="org-of-actor",
            grounds=AccessGrounds(project_id="other", role="role"),
        ),
        ApplicationUse(
            user_id="u", user_org_id="o", client_id="client-of-actor", client_org_id="o"
        ),
    ],
)
MADE = {"sign-in": OF_SIGN_IN, "exchange": OF_EXCHANGE}
OF_COLLECTIONS = {
    INSTANCES: INSTANCE,
    USERS: USER,
    ORGANIZATIONS: ORGANIZATION,
    APPLICATIONS: APPLICATION,
    AUTHORIZATIONS: OF_SIGN_IN,
    SESSIONS: Session(
        id="session",
        agent_id="browser",
        user_id="user",
        org_id="org",
        stamps="",
        auth_time=NOW,
        amr=["pwd"],
        acr="",
        created_at=NOW,
        last_used_at=NOW,
        expires_at=NOW,
    ),
    PROJECTS: PROJECT,
}
RECORDS = {collection.name: one for collection, one in OF_COLLECTIONS.items()}


class Keys:
    """The installation's keys: one that signs, and one that encrypts."""

    def __init__(self) -> None:
        private = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
        signing, sealing = record("sig", "EdDSA"), record("enc", "A256GCM")
        self._keys = {
            "EdDSA": LoadedKey(signing, private=private, public=private.public_key()),
            "A256GCM": LoadedKey(sealing, symmetric=bytes(range(32, 64))),
        }

    async def signing(self, algorithm: str) -> LoadedKey:
        return self._keys[algorithm]

    async def sealing(self) -> LoadedKey:
        return self._keys["A256GCM"]

    async def for_tokens(self, kid: str) -> LoadedKey | None:
        return next((key for key in self._keys.values() if key.kid == kid), None)

    for_hints = for_tokens


class Records(Following):
    """The store, with the record of each collection."""

    async def get_many(self, keys):
        return [self._one(collection.name, id) for collection, id in keys]

    def _one(self, name: str, id: str):
        found = RECORDS.get(name)
        return found if found and found.id == id else None


def record(use: str, algorithm: str) -> SigningKey:
    return SigningKey(
        id=f"kid-{use}",
        use=use,
        algorithm=algorithm,
        state="active",
        sealed_private="",
        created_at=NOW,
        changed_at=NOW,
    )


def make_service() -> SimpleNamespace:
    config = Config(issuer=ISSUER)
    return SimpleNamespace(config=config, random=SeededRandom(1), keys=Keys(), store=Records())


def authorized(name: str, kind: str) -> AuthorizedClient:
    session = RECORDS[SESSIONS.name] if name == "sign-in" else None
    authorization = msgspec.structs.replace(MADE[name], token_kind=kind)
    return AuthorizedClient(authorization, SUBJECT, CLIENT, session, GROUNDS)


async def issue(name: str, kind: str) -> str:
    service, grantee = make_service(), authorized(name, kind)
    session_id, scopes = grantee.authorization.session_id, grantee.authorization.scopes
    if kind == "id":
        return await token_response.id_token(
            service, grantee, scopes, session_id, NOW, nonce="n-0S6", access_token="a", code="c"
        )
    return (await token_response.access_token(service, grantee, scopes, session_id, NOW)).token


TOKENS = [(name, kind) for name in MADE for kind in ("jwt", "opaque", "id")]


@pytest.mark.parametrize(("name", "kind"), TOKENS)
async def test_the_same_authorization_gives_the_same_token(name, kind):
    token = await issue(name, kind)

    assert token == SAMPLES[f"{name} {kind}"]


@pytest.mark.parametrize("kind", ["jwt", "opaque"])
@pytest.mark.parametrize("name", MADE)
async def test_a_stored_access_token_names_the_records_that_it_depends_on(name, kind):
    claims = await access_tokens.read(make_service(), SAMPLES[f"{name} {kind}"])

    named = claims.dependencies

    assert msgspec.to_builtins(named) == SAMPLES[f"{name} named"] | {
        "token_ids": [claims.jti, *MADE[name].parent_token_ids]
    }


@pytest.mark.parametrize("kind", ["jwt", "opaque"])
async def test_a_stored_access_token_is_valid(kind):
    service = make_service()
    claims = await access_tokens.read(service, SAMPLES[f"sign-in {kind}"])

    live = await validity.find(service, claims.dependencies)

    assert live is not None
    assert (live.subject, live.client, live.grounds) == (SUBJECT, CLIENT, GROUNDS)


@pytest.mark.parametrize("name", MADE)
async def test_a_stored_id_token_verifies(name):
    read = await id_tokens.read(make_service(), SAMPLES[f"{name} id"])

    assert (read.sub, read.aud, read.amr) == ("user", "client", ["pwd", "otp", "mfa"])
    assert read.sid == MADE[name].session_id


@pytest.mark.parametrize("name", MADE)
async def test_what_a_token_depends_on_is_written_as_it_was_read(name):
    claims = await access_tokens.read(make_service(), SAMPLES[f"{name} jwt"])
    read = claims.dependencies

    own = msgspec.structs.replace(read, token_ids=read.token_ids[1:])

    assert to_claims(own) == claims.ref

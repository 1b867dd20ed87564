"""Token exchange: tokens that do not count as subject or actor, for whatever reason."""

from __future__ import annotations

import pytest

from idp.records import USERS
from storage import Update
from tests.support.attacks import forged
from tests.support.management.callers import instance_owner
from tests.support.protocol.answers import assert_refused
from tests.support.protocol.asserting import private_key, register_key
from tests.support.protocol.exchanging import ACCESS, GRANT, ID, JWT, USER_ID
from tests.support.store.stored import everything

FOREIGN_JWTS = {
    "of another issuer": lambda g: g.keyed.assertion(iss=g.foreign.client_id, sub=g.ann),
    "of another client's key": lambda g: g.seen["foreign key"].assertion(
        iss=g.broker.party.client_id, sub=g.ann
    ),
    "by another client itself": lambda g: g.seen["foreign key"].assertion(sub=g.ann),
    "by a key of nobody": lambda g: g.keyed.sign(
        g.keyed.claims(sub=g.ann), key=private_key("RS256", 9)
    ),
    "of an unknown kid": lambda g: g.keyed.sign(g.keyed.claims(sub=g.ann), kid="nobody"),
    "for somebody else": lambda g: g.keyed.assertion(sub=g.ann, aud="https://other.example"),
    "that has expired": lambda g: g.keyed.assertion(sub=g.ann, exp=1),
    "that lasts too long": lambda g: g.keyed.assertion(sub=g.ann, exp=2**40),
    "of nobody": lambda g: g.keyed.assertion(sub="nobody"),
    "of the client itself": lambda g: g.keyed.assertion(),
    "of a NUL": lambda g: g.keyed.assertion(sub="\0"),
    "of a long name": lambda g: g.keyed.assertion(sub="u" * 5000),
    "without sub": lambda g: g.keyed.assertion(sub=None),
    "unsigned": lambda g: forged.unsigned(g.keyed.assertion(sub=g.ann)),
    "that is our ID token": lambda g: g.tokens["id_token"],
}


@pytest.mark.full
@pytest.mark.parametrize("make", FOREIGN_JWTS.values(), ids=FOREIGN_JWTS.keys())
async def test_a_jwt_that_the_client_did_not_sign_for_this_is_refused(server, ground, make):
    ground.seen["foreign key"] = await register_key(
        server, ground.foreign.client_id, "key-2", number=1
    )
    token = make(ground)
    before = await everything(server.store)
    page = await ground.broker.exchange(token, JWT, **ground.by_bob)

    assert_refused(page, 400, "invalid_request")
    assert page.json()["error_description"] == "subject_token invalid"
    assert await everything(server.store) == before


BAD_TOKENS = {
    "nothing known": (lambda g: "token", ACCESS),
    "cut": (lambda g: g.tokens["access_token"][:-4], ACCESS),
    "changed": (lambda g: next(forged.changed(g.tokens["access_token"][::-1]))[::-1], ACCESS),
    "for another project": (lambda g: g.of_foreign["access_token"], ACCESS),
    "an ID token as access token": (lambda g: g.tokens["id_token"], ACCESS),
    "a refresh token as access token": (lambda g: g.tokens["refresh_token"], ACCESS),
    "a user id as access token": (lambda g: g.ann, ACCESS),
    "of 60 KB": (lambda g: "v1." + "A" * 60_000, ACCESS),
    "NUL": (lambda g: "\0", ACCESS),
    "a wrong personal token": (lambda g: "idp_pat_" + "p" * 65, ACCESS),
    "an access token as ID token": (lambda g: g.tokens["access_token"], ID),
    "another client's ID token": (lambda g: g.of_foreign["id_token"], ID),
    "an unsigned ID token": (lambda g: forged.unsigned(g.tokens["id_token"]), ID),
    "an ID token with other claims": (
        lambda g: forged.resigned(g.tokens["id_token"], {}, {"sub": g.bob}),
        ID,
    ),
    "our own assertion as ID token": (lambda g: g.keyed.assertion(sub=g.ann), ID),
    "a number as ID token": (lambda g: "1", ID),
}
PLACES = ["subject", "actor"]


@pytest.mark.promise("exchange: subject_token")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("make", "type"), BAD_TOKENS.values(), ids=BAD_TOKENS.keys())
async def test_a_token_that_does_not_count_is_refused(server, ground, make, type, place):
    token = make(ground)
    before = await everything(server.store)
    if place == "subject":
        page = await ground.broker.exchange(token, type)
    else:
        page = await ground.broker.exchange(
            ground.ann, USER_ID, actor_token=token, actor_token_type=type
        )

    assert_refused(page, 400, "invalid_request")
    assert page.json()["error_description"] == f"{place}_token invalid"
    assert await everything(server.store) == before


@pytest.mark.parametrize("user_id", ["nobody", "\0", "u" * 5000, "\ud7ff", "../ann", "*"])
async def test_the_id_of_no_user_is_refused(server, ground, user_id):
    before = await everything(server.store)
    page = await ground.broker.exchange(user_id, USER_ID, **ground.by_bob)

    assert_refused(page, 400, "invalid_request")
    assert page.json()["error_description"] == "subject_token invalid"
    assert await everything(server.store) == before


async def locked(ground):
    await ground.broker.server.store.commit(
        Update(USERS, ground.ann, set={"state": "locked", "stamp": "other"})
    )


async def logged_out(ground):
    await ground.broker.log_out(ground.tokens)


async def new_password(ground):
    await ground.broker.server.store.commit(Update(USERS, ground.ann, set={"stamp": "other"}))


async def late(ground):
    ground.broker.server.clock.advance(ground.tokens["expires_in"] + 1)


async def revoked(ground):
    form, party = {"token": ground.tokens["access_token"]}, ground.broker.party
    await ground.broker.visitor.post("/oauth/v2/revoke", form, headers=party.basic())


@pytest.mark.promise("exchange: subject_token")
@pytest.mark.parametrize("end", [locked, logged_out, new_password, late, revoked])
@pytest.mark.parametrize("type", [ACCESS, ID])
async def test_what_has_ended_is_not_exchanged(server, ground, end, type):
    name = "access_token" if type == ACCESS else "id_token"
    await end(ground)
    before = await everything(server.store)
    page = await ground.broker.exchange(ground.tokens[name], type, scope="openid")

    if end is revoked and type == ID:  # an access token alone was given back
        assert page.status == 200
        return
    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_a_user_who_is_not_active_is_acted_for_by_nobody(server, ground):
    await locked(ground)
    before = await everything(server.store)
    page = await ground.broker.exchange(ground.ann, USER_ID, **ground.by_bob)

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_an_applications_own_token_is_of_no_user(server, visitor, ground):
    party = await server.register("Own", grant_types=["client_credentials", GRANT])
    form = {"grant_type": "client_credentials"}
    token = (await party.token(visitor, form)).json()["access_token"]
    before = await everything(server.store)
    page = await ground.broker.exchange(token, party=party)

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_an_id_token_without_a_session_is_not_taken(server, ground):
    body = await ground.broker.granted(ground.tokens["access_token"], requested_token_type=ID)
    before = await everything(server.store)
    page = await ground.broker.exchange(body["access_token"], ID, scope="openid")

    assert_refused(page, 400, "invalid_request")
    assert await everything(server.store) == before


async def test_a_personal_token_that_was_deleted_is_not_taken(server, visitor, ground):
    owner = await instance_owner(server, visitor)
    mine = owner.token.removeprefix("idp_pat_")
    page = await ground.broker.exchange(owner.token)
    refused = await ground.broker.exchange("idp_pat_" + mine[:-1] + "!")

    assert page.status == 200
    assert_refused(refused, 400, "invalid_request")

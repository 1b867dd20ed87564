"""Mistakes of a client that says who it is at the token endpoint."""

from __future__ import annotations

import base64
from datetime import timedelta

from idp.foundation import opaque_tokens
from idp.oauth.grants import GRANTS
from idp.records import APPLICATIONS, OldSecret
from storage import Update
from tests.handlers.protocol.mistakes.world import TOKEN, Mistake, World

WRONG = (
    "The secret is wrong: it has {length} characters"
    " (the application's method is client_secret_basic, and that was used)."
)


def basic(user: str, password: str) -> dict:
    """A Basic header as somebody builds it by hand."""
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def header(name: str, check: str, sentence: str, build):
    async def make(world: World):
        return await world.wiki.redeem(world.visitor, "c" * 65, headers=build(world.wiki))

    return Mistake(name, check, sentence, make)


def form(name: str, check: str, sentence: str, **changes):
    """The header stays away; what is sent is in the form."""

    async def make(world: World):
        values = {key: value(world.wiki) for key, value in changes.items()}
        return await world.wiki.redeem(world.visitor, "c" * 65, headers={}, **values)

    return Mistake(name, check, sentence, make)


def posting(name: str, check: str, sentence: str, **changes):
    """The right header, and a form that is wrong in something."""

    async def make(world: World):
        return await world.wiki.redeem(world.visitor, "c" * 65, **changes)

    return Mistake(name, check, sentence, make)


async def by_get(world: World):
    return await world.visitor.get(f"{TOKEN}?grant_type=authorization_code&code=c")


async def as_json(world: World):
    body = {"grant_type": "authorization_code", "code": "c"}
    return await world.visitor.post(TOKEN, json=body, headers=world.wiki.basic())


async def in_the_address(world: World):
    return await world.visitor.post(f"{TOKEN}?code=c", {"code": "c"}, headers=world.wiki.basic())


async def no_code(world: World):
    form = {"grant_type": "authorization_code", "redirect_uri": world.wiki.redirect_uri}
    return await world.wiki.token(world.visitor, form)


async def code_twice(world: World):
    return await world.wiki.redeem(world.visitor, ["c" * 65, "d" * 65])


async def both_at_once(world: World):
    secret = world.wiki.client_secret
    return await world.wiki.redeem(world.visitor, "c" * 65, client_secret=secret)


async def another_id_in_the_form(world: World):
    return await world.wiki.redeem(world.visitor, "c" * 65, client_id="wiki")


async def basic_instead_of_post(world: World):
    party = await world.another(auth_method="client_secret_post", is_auth_method_strict=True)
    return await party.redeem(world.visitor, "c" * 65)


async def post_instead_of_basic(world: World):
    party = await world.another(is_auth_method_strict=True)
    secret = {"client_id": party.client_id, "client_secret": party.client_secret}
    return await party.redeem(world.visitor, "c" * 65, headers={}, **secret)


async def secret_of_a_public_client(world: World):
    party = await world.another(auth_method="none")
    return await party.redeem(world.visitor, "c" * 65, client_secret="invented")


async def switched_off(world: World):
    await world.server.store.commit(
        Update(APPLICATIONS, world.wiki.client_id, set={"state": "inactive"})
    )
    return await world.wiki.redeem(world.visitor, "c" * 65)


async def project_switched_off(world: World):
    await world.server.store.commit(
        Update(APPLICATIONS, world.wiki.client_id, set={"state": "suspended"})
    )
    return await world.wiki.redeem(world.visitor, "c" * 65)


async def replaced_secret(world: World):
    ended = world.server.clock.now() - timedelta(hours=3)
    old = OldSecret(hash=opaque_tokens.digest("the last one"), ends_at=ended)
    await world.server.store.commit(
        Update(APPLICATIONS, world.wiki.client_id, set={"old_secret": old})
    )
    headers = basic(world.wiki.client_id, "the last one")
    return await world.wiki.redeem(world.visitor, "c" * 65, headers=headers)


async def plus_in_the_secret(world: World):
    secret = "abc+def/" + "x" * 35
    await world.server.store.commit(
        Update(
            APPLICATIONS, world.wiki.client_id, set={"secret_hash": opaque_tokens.digest(secret)}
        )
    )
    headers = basic(world.wiki.client_id, secret)
    return await world.wiki.redeem(world.visitor, "c" * 65, headers=headers)


async def no_refresh_grant(world: World):
    party = await world.another(grant_types=["authorization_code"])
    return await party.refresh(world.visitor, "r" * 108)


MISTAKES = [
    Mistake(
        "token by GET", "method", "The request came by GET; this endpoint takes POST.", by_get
    ),
    Mistake(
        "token by JSON",
        "form",
        "The content type must be application/x-www-form-urlencoded.",
        as_json,
    ),
    Mistake(
        "parameters in the address",
        "form",
        "parameters belong into the body of a POST, not its address.",
        in_the_address,
    ),
    Mistake("two codes", "once", "code was sent more than once.", code_twice),
    Mistake(
        "both methods at once",
        "client_named",
        "The client authenticates by header and by form; use one of them.",
        both_at_once,
    ),
    Mistake(
        "two client ids",
        "client_named",
        "client_id differs from the one in the authorization header.",
        another_id_in_the_form,
    ),
    form("nobody named", "client_named", "The request names no client."),
    header(
        "Bearer instead of Basic",
        "client_named",
        "The authorization header is not Basic.",
        lambda wiki: {"Authorization": f"Bearer {wiki.client_secret}"},
    ),
    header(
        "a header without base64",
        "client_named",
        "The Basic header is not base64 of UTF-8.",
        lambda wiki: {"Authorization": f"Basic {wiki.client_id}:{wiki.client_secret}"},
    ),
    header(
        "an unknown client",
        "client_known",
        "No application has this client_id: it has 4 characters.",
        lambda wiki: basic("wiki", wiki.client_secret),
    ),
    header(
        "the two parts of the header swapped",
        "client_known",
        "client_id and secret are swapped: the secret that was sent is a client_id.",
        lambda wiki: basic(wiki.client_secret, wiki.client_id),
    ),
    form(
        "the two fields of the form swapped",
        "client_known",
        "client_id and secret are swapped: the secret that was sent is a client_id.",
        client_id=lambda wiki: wiki.client_secret,
        client_secret=lambda wiki: wiki.client_id,
    ),
    form(
        "the secret as client_id",
        "client_known",
        "No application has this client_id: that is something as long as a client_secret.",
        client_id=lambda wiki: wiki.client_secret,
    ),
    header(
        "a personal access token as user",
        "client_known",
        "No application has this client_id: that is a personal access token.",
        lambda wiki: basic("idp_pat_" + "p" * 65, ""),
    ),
    form(
        "a space after the client_id",
        "client_known",
        "No application has this client_id: there is a space or a line break before or after it.",
        client_id=lambda wiki: f"{wiki.client_id} ",
    ),
    Mistake(
        "a client that was switched off",
        "client_known",
        "The application `Wiki` ({wiki}) is not active.",
        switched_off,
    ),
    Mistake(
        "a client whose project was switched off",
        "client_known",
        "The application `Wiki` ({wiki}) is not active: its project is deactivated.",
        project_switched_off,
    ),
    Mistake(
        "post instead of basic",
        "client_method",
        "The application's method is client_secret_basic, and client_secret_post was used.",
        post_instead_of_basic,
    ),
    form(
        "no secret at all",
        "client_method",
        "The application's method is client_secret_basic, and none was used.",
        client_id=lambda wiki: wiki.client_id,
    ),
    Mistake(
        "basic instead of post",
        "client_method",
        "The application's method is client_secret_post, and client_secret_basic was used.",
        basic_instead_of_post,
    ),
    Mistake(
        "a secret where there is none",
        "client_method",
        "The application's method is none, and client_secret_post was used.",
        secret_of_a_public_client,
    ),
    header(
        "a wrong secret",
        "client_proof",
        WRONG.format(length=8),
        lambda wiki: basic(wiki.client_id, "invented"),
    ),
    Mistake(
        "a secret that was replaced",
        "client_proof",
        "The secret was replaced by another one, and ended 3 h ago.",
        replaced_secret,
    ),
    header(
        "a line break after the secret",
        "client_proof",
        "The secret is right, but for a space or a line break at its beginning or its end.",
        lambda wiki: basic(wiki.client_id, f"{wiki.client_secret}\n"),
    ),
    header(
        "the client_id as the secret",
        "client_proof",
        "The client_id was sent as the secret.",
        lambda wiki: basic(wiki.client_id, wiki.client_id),
    ),
    header(
        "a secret that was hashed",
        "client_proof",
        WRONG.format(length=43),
        lambda wiki: basic(wiki.client_id, opaque_tokens.digest(wiki.client_secret)),
    ),
    Mistake(
        "a secret that was not form-encoded",
        "client_proof",
        "The secret is right, but it was not form-encoded before it went into the header.",
        plus_in_the_secret,
    ),
    posting("no grant_type", "grant_type", "grant_type is missing.", grant_type=None),
    posting(
        "grant_type=password",
        "grant_type",
        f"grant_type is one of {', '.join(GRANTS)}; `password` was sent.",
        grant_type="password",
    ),
    Mistake(
        "a grant that is not allowed",
        "grant_allowed",
        "The application may use authorization_code; refresh_token was sent.",
        no_refresh_grant,
    ),
    posting(
        "no redirect_uri for the code", "code_sent", "redirect_uri is missing.", redirect_uri=None
    ),
    Mistake("no code", "code_sent", "code is missing.", no_code),
]

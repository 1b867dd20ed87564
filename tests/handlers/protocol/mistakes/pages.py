"""Mistakes that the explain page tells of: an unusable client or address."""

from __future__ import annotations

from idp.records import APPLICATIONS
from storage import Update
from tests.handlers.protocol.mistakes.world import (
    APP,
    CALLBACK,
    END_SESSION,
    FIND,
    GOODBYE,
    LOCAL,
    Mistake,
    World,
)
from tests.support.attacks import forged

UNREGISTERED = "The redirect_uri is not one that the application registered."
NOT_FOR_LOGOUT = "The post_logout_redirect_uri is not one that the application registered."


def address(name: str, sent: str, hint: str, registered: str, at: int, ours: str, theirs: str):
    """A wrong redirect_uri, and how it is told apart from the registered one."""

    async def make(world: World):
        return await world.authorize(redirect_uri=sent)

    hinted = f"{hint} " if hint else ""
    differs = f"It differs from `{registered}` at character {at}"
    sentence = f"{UNREGISTERED} {hinted}{differs}: {ours} was sent, {theirs} is registered there."
    shown = (UNREGISTERED, hint, f"from character {at} on")
    return Mistake(name, "redirect_uri", sentence, make, shown)


ADDRESSES = [
    address(
        "http instead of https",
        "http://client.example/cb",
        "http was sent, https is registered.",
        CALLBACK,
        5,
        "`:`",
        "`s`",
    ),
    address(
        "a slash too many",
        f"{CALLBACK}/",
        "There is an extra / at the end.",
        CALLBACK,
        26,
        "`/`",
        "nothing more",
    ),
    address(
        "another port",
        "http://127.0.0.1:3000/cb",
        "Port 3000 was sent, and port 8080 is registered.",
        LOCAL,
        18,
        "`3`",
        "`8`",
    ),
    address(
        "no port",
        "http://127.0.0.1/cb",
        "No port was sent, and port 8080 is registered.",
        LOCAL,
        17,
        "`/`",
        "`:`",
    ),
    address(
        "the default port",
        "https://client.example:443/cb",
        "Port 443 was sent, and the URI is registered without one.",
        CALLBACK,
        23,
        "`:`",
        "`/`",
    ),
    address(
        "localhost instead of 127.0.0.1",
        "http://localhost:8080/cb",
        "localhost was sent, 127.0.0.1 is registered: they are the same computer, but not the"
        " same host name.",
        LOCAL,
        8,
        "`l`",
        "`1`",
    ),
    address(
        "encoded twice",
        "https%3A%2F%2Fclient.example%2Fcb",
        "The URI was percent-encoded twice.",
        CALLBACK,
        6,
        "`%`",
        "`:`",
    ),
    address(
        "capitals in the path",
        "https://client.example/CB",
        "Uppercase and lowercase letters differ.",
        CALLBACK,
        24,
        "`C`",
        "`c`",
    ),
    address(
        "a query of its own",
        f"{CALLBACK}?next=/home",
        "A query, the part that begins with ? or &, was added. Send values for a single request"
        " in state.",
        CALLBACK,
        26,
        "`?`",
        "nothing more",
    ),
    address(
        "a fragment",
        f"{CALLBACK}#home",
        "A fragment, the part that begins with #, was added. A redirect URI can't have one.",
        CALLBACK,
        26,
        "`#`",
        "nothing more",
    ),
    address(
        "a line break at the end",
        f"{CALLBACK}\n",
        "There is a space or a line break before or after the URI.",
        CALLBACK,
        26,
        "`\\n`",
        "nothing more",
    ),
    address(
        "a slash too few",
        "https://client.example/app",
        "The / at the end is missing.",
        APP,
        27,
        "nothing more",
        "`/`",
    ),
    address(
        "a query too few",
        "https://client.example/find",
        "The registered query is missing.",
        FIND,
        28,
        "nothing more",
        "`?`",
    ),
    address("quite another address", "https://staging.example/cb", "", CALLBACK, 9, "`s`", "`c`"),
]


async def no_redirect_uri(world: World):
    return await world.authorize(redirect_uri=None)


async def nothing_registered(world: World):
    await world.server.store.commit(
        Update(APPLICATIONS, world.wiki.client_id, set={"redirect_uris": []})
    )
    return await world.authorize()


async def no_client_id(world: World):
    return await world.authorize(client_id=None)


async def mistyped_client_id(world: World):
    return await world.authorize(client_id="wiki")


async def spaced_client_id(world: World):
    return await world.authorize(client_id=f"{world.wiki.client_id} ")


async def inactive_client(world: World):
    await world.server.store.commit(
        Update(APPLICATIONS, world.wiki.client_id, set={"state": "inactive"})
    )
    return await world.authorize()


async def client_id_twice(world: World):
    return await world.visitor.get(f"{world.wiki.authorize_url()}&client_id=again")


async def redirect_uri_twice(world: World):
    return await world.visitor.get(f"{world.wiki.authorize_url()}&redirect_uri={CALLBACK}")


async def bare_percent(world: World):
    return await world.visitor.get(f"{world.wiki.authorize_url()}&login_hint=100%")


async def form_as_json(world: World):
    return await world.visitor.post("/oauth/v2/authorize", json=world.wiki.authorize_form())


UNUSABLE = [
    Mistake(
        "no redirect_uri",
        "redirect_uri",
        "The request has no redirect_uri.",
        no_redirect_uri,
        ("The redirect_uri is missing",),
    ),
    Mistake(
        "an application without addresses",
        "redirect_uri",
        f"{UNREGISTERED} The application has no such URI registered.",
        nothing_registered,
        ("The application has no such URI registered.",),
    ),
    Mistake(
        "no client_id",
        "client",
        "The request has no client_id.",
        no_client_id,
        ("The client_id is missing",),
    ),
    Mistake(
        "a mistyped client_id",
        "client",
        "No application has this client_id: it has 4 characters.",
        mistyped_client_id,
        ("No application has this client_id.",),
    ),
    Mistake(
        "a space after a client_id",
        "client",
        "No application has this client_id: there is a space or a line break before or after it.",
        spaced_client_id,
        ("There is a space or a line break before or after the client_id.",),
    ),
    Mistake(
        "an application that was switched off",
        "client",
        "The application `Wiki` ({wiki}) is not active.",
        inactive_client,
        ("No application has this client_id.",),  # whoever asks is not told that there is one
    ),
    Mistake(
        "client_id twice",
        "proven_once",
        "It is unclear which of its values applies."
        " The parameter client_id was sent more than once.",
        client_id_twice,
        ("The parameter client_id was sent more than once.",),
    ),
    Mistake(
        "redirect_uri twice",
        "proven_once",
        "It is unclear which of its values applies."
        " The parameter redirect_uri was sent more than once.",
        redirect_uri_twice,
        ("The parameter redirect_uri was sent more than once.",),
    ),
    Mistake(
        "a bare percent sign",
        "form",
        "Its parameters are encoded incorrectly."
        " A percent sign is not followed by two hexadecimal digits.",
        bare_percent,
        ("a percent sign is not followed by two hexadecimal digits",),
    ),
    Mistake(
        "JSON instead of a form",
        "form",
        "Its parameters are encoded incorrectly."
        " The content type must be application/x-www-form-urlencoded.",
        form_as_json,
        ("the content type must be application/x-www-form-urlencoded",),
    ),
]


def logout(name: str, check: str, sentence: str, shown: str, **sent):
    async def make(world: World):
        values = {"client_id": world.wiki.client_id} | sent
        return await world.visitor.get(world.wiki.logout_url(**values))

    return Mistake(name, check, sentence, make, (shown,))


async def foreign_hint(world: World):
    tokens = await world.tokens(await world.another())
    return await world.visitor.get(
        world.wiki.logout_url(id_token_hint=tokens["id_token"], client_id=world.wiki.client_id)
    )


async def forged_hint(world: World):
    hint = forged.unsigned((await world.tokens())["id_token"])
    return await world.visitor.get(world.wiki.logout_url(id_token_hint=hint))


async def logout_twice(world: World):
    url = world.wiki.logout_url(client_id=world.wiki.client_id)
    return await world.visitor.get(f"{url}&state=a&state=b")


async def logout_as_json(world: World):
    return await world.visitor.post(END_SESSION, json={"client_id": world.wiki.client_id})


LOGOUTS = [
    logout(
        "an address that is not for logging out",
        "post_logout_redirect_uri",
        f"{NOT_FOR_LOGOUT} It differs from `{GOODBYE}` at character 24:"
        " `c` was sent, `b` is registered there.",
        NOT_FOR_LOGOUT,
        post_logout_redirect_uri=CALLBACK,
    ),
    logout(
        "a slash too many after a logout",
        "post_logout_redirect_uri",
        f"{NOT_FOR_LOGOUT} There is an extra / at the end. It differs from `{GOODBYE}` at"
        " character 27: `/` was sent, nothing more is registered there.",
        "There is an extra / at the end.",
        post_logout_redirect_uri=f"{GOODBYE}/",
    ),
    logout(
        "http instead of https after a logout",
        "post_logout_redirect_uri",
        f"{NOT_FOR_LOGOUT} http was sent, https is registered. It differs from `{GOODBYE}` at"
        " character 5: `:` was sent, `s` is registered there.",
        "http was sent, https is registered.",
        post_logout_redirect_uri="http://client.example/bye",
    ),
    logout(
        "an address without a client",
        "post_logout_redirect_uri",
        "The request has a post_logout_redirect_uri, but neither an id_token_hint nor"
        " a client_id.",
        "The request has a post_logout_redirect_uri, but neither an id_token_hint nor"
        " a client_id.",
        client_id=None,
    ),
    logout(
        "a logout of an unknown client",
        "logout_client",
        "No application has this client_id: it has 4 characters.",
        "No application has this client_id.",
        client_id="wiki",
    ),
    logout(
        "a state of 5,000 characters",
        "logout_state",
        "The state is longer than this service accepts. state is longer than 4096 characters.",
        "The state is longer than this service accepts.",
        state="s" * 5000,
    ),
    Mistake(
        "another client's ID token",
        "logout_client",
        "The client_id is not the client that the id_token_hint was issued to.",
        foreign_hint,
        ("The client_id is not the client that the id_token_hint was issued to.",),
    ),
    Mistake(
        "a forged ID token",
        "logout_hint",
        "It is a JWT of this service by its words, but its signature does not verify.",
        forged_hint,
        ("It is not an ID token of this service.",),
    ),
    Mistake(
        "state twice",
        "once",
        "It is unclear which of its values applies. state was sent more than once.",
        logout_twice,
        ("state was sent more than once",),
    ),
    Mistake(
        "a logout as JSON",
        "form",
        "Its parameters are encoded incorrectly."
        " The content type must be application/x-www-form-urlencoded.",
        logout_as_json,
        ("the content type must be application/x-www-form-urlencoded",),
    ),
]

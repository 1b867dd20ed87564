"""Mistakes with the device flow."""

from __future__ import annotations

from tests.handlers.protocol.mistakes.world import Mistake, World
from tests.support.protocol.device import GRANTS, Device, at_confirmation, type_code


async def new_device(world: World, **changes) -> Device:
    party = await world.another(grant_types=GRANTS, **changes)
    return Device(party, world.visitor)


def asking(name: str, check: str, sentence: str, **changes):
    """A device authorization request with something wrong."""

    async def make(world: World):
        return await (await new_device(world)).ask(**changes)

    return Mistake(name, check, sentence, make)


def polling(name: str, check: str, sentence: str, *, after: float = 0, **changes):
    """A poll with something wrong, `after` so many seconds."""

    async def make(world: World):
        device = await new_device(world)
        await device.begin()
        world.server.clock.advance(after)
        return await device.poll(**changes)

    return Mistake(name, check, sentence, make)


async def without_the_grant(world: World):
    return await Device(world.wiki, world.visitor).ask()


async def foreign_code(world: World):
    device = await new_device(world)
    await device.begin()
    radio = await world.server.register("Radio", grant_types=GRANTS)
    world.seen["radio"] = radio.client_id
    return await Device(radio, world.visitor, device.answer).poll()


async def decided(world: World, decision: str) -> Device:
    device = await new_device(world)
    told = await device.begin()
    page = await at_confirmation(world.visitor, told["user_code"], world.server.user)
    await world.visitor.submit(page, decision=decision)
    world.server.clock.advance(7)
    return device


async def used_code(world: World):
    device = await decided(world, "allow")
    await device.poll()
    world.server.clock.advance(5)
    return await device.poll()


async def denied(world: World):
    return await (await decided(world, "deny")).poll()


async def cancelled(world: World):
    device = await new_device(world)
    told = await device.begin()
    page = await type_code(world.visitor, told["user_code"])
    await world.visitor.submit(page, decision="cancel")
    return await device.poll()


async def hasty(world: World):
    device = await new_device(world)
    await device.begin()
    await device.poll()
    world.server.clock.advance(4)
    return await device.poll()


MISTAKES = [
    Mistake(
        "a device of an application without that grant",
        "grant_allowed",
        "The application may use authorization_code, refresh_token;"
        " not urn:ietf:params:oauth:grant-type:device_code.",
        without_the_grant,
    ),
    asking(
        "a device's scopes in quotes",
        "device_scope",
        "scope has a character that is not allowed.",
        scope='"openid"',
    ),
    polling("no device_code", "device_code_sent", "device_code is missing.", device_code=None),
    polling(
        "a user code as device code",
        "device_code_known",
        "That is not a device code of this service: those have 65 letters, digits, - and _, and"
        " this has 9 characters.",
        device_code="BBBB-BBBB",
    ),
    polling(
        "a device code of another installation",
        "device_code_known",
        "It has the form of a device code, but no such one is known: it comes from another"
        " installation, or is so old that it was forgotten.",
        device_code="d" * 65,
    ),
    Mistake(
        "the device code of another client",
        "device_code_client",
        "The device code was issued to the client `{other}`; `Radio` ({radio}) sent it.",
        foreign_code,
    ),
    Mistake(
        "a device code that gave tokens",
        "device_code_unused",
        "The device code gave tokens 5 s ago.",
        used_code,
    ),
    Mistake(
        "a device that was denied",
        "device_allowed",
        "The person denied the request 7 s ago.",
        denied,
    ),
    Mistake(
        "a device whose sign-in was cancelled",
        "device_allowed",
        "The person denied the request 0 s ago.",
        cancelled,
    ),
    polling(
        "a device that polls for too long",
        "device_code_unexpired",
        "The device code expired 20 s ago; a device code lasts 5 min.",
        after=320,
    ),
    Mistake(
        "a device that polls too often",
        "device_pace",
        "The device polls too often: it has to wait 10 s between two polls.",
        hasty,
    ),
]

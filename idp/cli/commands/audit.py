"""`idp audit verify`, which verifies that the sealed events are unchanged; and
`idp audit erase`, which removes a person's data from them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from idp.cli.commands.admin import ACTOR
from idp.cli.opening import open_store_service
from idp.cli.output import say
from idp.cli.settings import load_for_store, store_flags
from idp.cli.working import on_store
from idp.config.loading import LoadedSettings
from idp.foundation.errors import ConfigError
from idp.service import Service
from idp.start import exit_codes

if TYPE_CHECKING:
    from idp.audit.verification import Anchor, StreamVerification

_ANCHOR_HELP: Final = "JSON lines with earlier heads of the streams, such as the service's log."


@click.command(short_help="Verify that the sealed events are unchanged.")
@store_flags
@click.option(
    "--anchor", "anchor_file", metavar="FILE", type=click.Path(path_type=Path), help=_ANCHOR_HELP
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(
    anchor_file: Path | None, as_json: bool, config_file: Path | None, **flags: object
) -> None:
    """Verify each stream of the audit log from its first event to its head; the service may
    keep running. Exits with code 1, and prints the first invalid position, if there is one.
    Example: idp audit verify --anchor /var/log/idp.log
    """
    loaded = load_for_store(config_file, flags)
    results: list[StreamVerification] = []

    def run() -> None:
        anchors = _anchors(anchor_file) if anchor_file is not None else []
        results.extend(asyncio.run(_verify_streams(loaded, anchors)))
        click.echo(msgspec.json.encode({"streams": results}) if as_json else _text(results))
        if anchor_file is not None:
            say(f"{anchor_file}: {len(anchors)} anchors, {_compared_anchors(results)} compared")

    code = exit_codes.guarded(run)
    is_faulty = any(each.fault is not None for each in results)
    raise SystemExit(code or (exit_codes.FAILED if is_faulty else exit_codes.OK))


@click.command(short_help="Erase a person's data in the audit log.")
@store_flags
@click.option("--user", "user_id", metavar="ID", required=True, help="The user's id.")
@click.option("--yes", is_flag=True, help="Don't ask.")
def erase(user_id: str, yes: bool, config_file: Path | None, **flags: object) -> None:
    """Erase the payloads of the events about a user, and of the user's sessions, authorizations
    and refused attempts; the chain stays valid. Delete the user first, so that no more events
    are added. It can be repeated. Example: idp audit erase --user 3g81vq5TywOMRE_Q --yes
    """
    if not yes:
        click.confirm(f"Erase what the audit log has about {user_id}?", abort=True, err=True)

    async def run(service: Service) -> None:
        from idp.audit import erasure

        result = await erasure.erase(service, user_id, actor=ACTOR)
        say(f"{result.erased} of the user's {result.events} events had a payload, which is erased")
        if result.unsealed:
            say(f"{result.unsealed} of them are not sealed yet: repeat this in half an hour")

    on_store(run, config_file, flags)


async def _verify_streams(
    loaded: LoadedSettings, anchors: Sequence[Anchor]
) -> list[StreamVerification]:
    from idp.audit import verification

    async with open_store_service(loaded) as service:
        return await verification.verify(service, anchors)


def _anchors(file: Path) -> list[Anchor]:
    """Returns the anchors in a file. Raises ConfigError if there are none."""
    from idp.audit import verification

    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            anchors = verification.anchors_in(lines)
    except OSError as error:
        raise ConfigError([f"the anchors in {file} can't be read: {error.strerror}"]) from error
    if not anchors:
        raise ConfigError([f"{file} has no anchor: a JSON line with stream, position and chain"])
    return anchors


def _compared_anchors(results: Sequence[StreamVerification]) -> int:
    return sum(each.anchors for each in results)


def _text(results: Sequence[StreamVerification]) -> str:
    return "\n".join(f"{each.stream:<8} {_outcome(each)}" for each in results)


def _outcome(result: StreamVerification) -> str:
    if result.fault is not None:
        return f"position {result.fault_position} does not hold: {result.fault}"
    if not result.position:
        return "no event was sealed yet"
    removed = f", the first {result.floor} were removed by retention" if result.floor else ""
    erased = f", {result.erased} without their payload" if result.erased else ""
    return f"holds up to position {result.position}: {result.events} events{erased}{removed}"

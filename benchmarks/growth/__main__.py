"""`python -m benchmarks.growth`: the bytes that people and their requests add to a SQLite file.

The bytes are those of the pages, with their indexes, by the table `dbstat` of SQLite.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.backup.filling import fill
from benchmarks.storage import places
from benchmarks.tables import aligned
from tests.support.browsers.visitor import Visitor
from tests.support.programs.program import Program

_BYTES = """SELECT m.tbl_name, sum(d.payload) FROM dbstat d JOIN sqlite_master m ON d.name = m.name
    WHERE d.aggregate = TRUE GROUP BY m.tbl_name"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures each kind of growth on a separate file."""
    options = _parser().parse_args(arguments)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    rows = [["", "bytes", "the largest parts"]]
    with places.directory(options.directory) as place:
        rows += _of_people(place / "people", options.people)
        rows += _of_sign_ins(place / "sign-ins", options.sign_ins)
    print(aligned(rows))
    return 0


def _of_people(place: Path, people: int) -> list[list[str]]:
    place.mkdir()
    few, many = place / "few", place / "many"
    asyncio.run(fill(few, 10))
    asyncio.run(fill(many, 10 + people))
    return [_row("a person with a session and an event", _sizes(few), _sizes(many), people)]


def _of_sign_ins(place: Path, count: int) -> list[list[str]]:
    place.mkdir()
    program = Program(place).start()
    try:
        return asyncio.run(_grown(program, place / "idp-data", count))
    finally:
        program.kill()


async def _grown(program: Program, data: Path, count: int) -> list[list[str]]:
    party, browser = program.demo(), Visitor(program.issuer)
    url = party.authorize_url(prompt="login", scope="openid offline_access")

    async def sign_in() -> str:
        page = await browser.sign_in(url, *program.user)
        answer = await party.redeem(browser, page.answer["code"])
        return str(answer.json()["refresh_token"])

    token = await sign_in()
    begun = _sizes(data)
    for _ in range(count):
        token = await sign_in()
    signed_in = _sizes(data)
    for _ in range(count):
        answer = await party.refresh(browser, token)
        token = answer.json()["refresh_token"]
    refreshed = _sizes(data)
    return [
        _row("a sign-in and its tokens", begun, signed_in, count),
        _row("a refresh", signed_in, refreshed, count),
    ]


def _sizes(data: Path) -> dict[str, int]:
    """Returns the bytes of each table with its indexes."""
    with closing(sqlite3.connect(data / "idp.sqlite3")) as file:
        return dict(file.execute(_BYTES).fetchall())


def _row(name: str, before: Mapping[str, int], after: Mapping[str, int], count: int) -> list[str]:
    grown = {table: (size - before.get(table, 0)) / count for table, size in after.items()}
    parts = sorted(grown.items(), key=lambda part: -part[1])[:4]
    named = ", ".join(f"{table} {size:.0f}" for table, size in parts if size >= 1)
    return [name, f"{sum(grown.values()):.0f}", named]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--people", type=int, default=2_000)
    parser.add_argument("--sign-ins", type=int, default=100)
    parser.add_argument("--directory", type=Path, help="where the stores are made")
    return parser


if __name__ == "__main__":
    sys.exit(main())

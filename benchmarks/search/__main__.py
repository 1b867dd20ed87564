"""`python -m benchmarks.search`: fill, search, and print times and index plans.

Pages of the API's search, and the console's search by words that someone typed."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from benchmarks.search import plans
from benchmarks.search.filling import Filled, filled
from benchmarks.storage import places
from benchmarks.tables import aligned
from idp.management.users import name_search
from idp.management.users import search as user_search
from idp.management.users.search import UserSearch
from idp.schema import reading
from tests.support.servers.mongod import fresh_database

TARGET_MILLISECONDS: Final = 50.0
WORDS_TARGET_MILLISECONDS: Final = 100.0
_STARTS: Final = "TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE"
_SAME: Final = "TEXT_QUERY_METHOD_EQUALS_IGNORE_CASE"


def _all_of(**queries: dict[str, Any]) -> dict[str, Any]:
    """Returns the body of a search for the users that match all of these conditions."""
    return {"queries": [{name: query} for name, query in queries.items()]}


# What is sent of each search, but for the page.
SEARCHES: Final[Mapping[str, Mapping[str, Any]]] = {
    "everybody": {},
    "everybody by display name": {"sortingColumn": "USER_FIELD_NAME_DISPLAY_NAME"},
    "user name begins": _all_of(userNameQuery={"userName": "Person-77", "method": _STARTS}),
    "user name is": _all_of(userNameQuery={"userName": "person-77777", "method": _SAME}),
    "e-mail begins": _all_of(emailQuery={"emailAddress": "person-7", "method": _STARTS}),
    "e-mail is": _all_of(emailQuery={"emailAddress": "PERSON-1@example.com", "method": _SAME}),
    "display name begins": _all_of(
        displayNameQuery={"displayName": "some", "method": _STARTS},
    ),
    "name begins, and a state": _all_of(
        userNameQuery={"userName": "person-7", "method": _STARTS},
        stateQuery={"state": "USER_STATE_ACTIVE"},
    ),
    "a state that few are in": _all_of(stateQuery={"state": "USER_STATE_LOCKED"}),
    "family name is": _all_of(lastNameQuery={"lastName": "Family7919"}),
    "family name begins": _all_of(lastNameQuery={"lastName": "family7", "method": _STARTS}),
    "a nickname, no index": _all_of(nickNameQuery={"nickName": "Nobody"}),
}
# What is typed into the console's search, `n` being another number each time.
WORDS: Final[Mapping[str, str]] = {
    "a family name": "Family{n}",
    "its beginning": "fam",
    "both names": "Some Family{n}",
    "both in the other order": "Family{n} Some",
    "a first word that all have, and one that few have": "some {n}",
    "a phone number": "+4179{n:07}",
    "no one's name": "Nobody{n}",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures each back end; returns 1 if a page took longer than its limit."""
    options = _parser().parse_args(arguments)
    slowest = (0.0, 0.0)
    with ExitStack() as stack:
        directory = stack.enter_context(places.directory(options.directory))
        for back_end in options.back_end or ("sqlite", "mongodb"):
            url = f"sqlite:///{directory / 'store.sqlite3'}"
            if back_end == "mongodb":
                server = stack.enter_context(places.server(options.mongodb))
                url = stack.enter_context(fresh_database(server))
            measured = asyncio.run(_measured(back_end, url, options))
            slowest = (max(slowest[0], measured[0]), max(slowest[1], measured[1]))
    targets = (TARGET_MILLISECONDS, WORDS_TARGET_MILLISECONDS)
    for what, p95, target in zip(("a page", "typed words"), slowest, targets, strict=True):
        verdict = "is met" if p95 <= target else "is missed"
        print(f"\nthe target of {what} {verdict}: p95 {p95:.1f} ms of {target:.0f} ms at most")
    return int(any(p95 > target for p95, target in zip(slowest, targets, strict=True)))


async def _measured(back_end: str, url: str, options: argparse.Namespace) -> tuple[float, float]:
    """Prints the durations of each search; returns the slowest p95 of pages and of typed words, in
    milliseconds."""
    async with filled(url, options.count) as place:
        print(f"\n{back_end}: {options.count} users, {place.per_second:.0f}/s when they came in")
        rows, p95_values = [("search", "page", "p50 ms", "p95 ms")], [0.0]
        for name, search in SEARCHES.items():
            for where, scope in place.scopes.items():
                took, size = await _timed(place, search, scope, options.rounds)
                p95 = quantiles(took, n=20)[-1]
                rows.append((f"{name}, {where}", str(size), f"{median(took):.1f}", f"{p95:.1f}"))
                p95_values.append(p95)
        print(aligned(rows))
        words_p95 = await _print_words(place, options)
        print(f"\nindex plans on {back_end}")
        for line in await plans.explained_lines(place, url):
            print(f"  {line}")
    return max(p95_values), words_p95


async def _print_words(place: Filled, options: argparse.Namespace) -> float:
    """Prints the durations of the searches by typed words; returns the slowest p95."""
    rows, slowest = [("typed", "found", "p50 ms", "p95 ms")], 0.0
    for name, text in WORDS.items():
        for where, scope in place.scopes.items():
            took, size = await words_timed(place, text, scope, options)
            p95 = quantiles(took, n=20)[-1]
            rows.append((f"{name}, {where}", str(size), f"{median(took):.1f}", f"{p95:.1f}"))
            slowest = max(slowest, p95)
    print(aligned(rows))
    return slowest


async def words_timed(
    place: Filled, text: str, scope: str | None, options: argparse.Namespace
) -> tuple[list[float], int]:
    """Returns the milliseconds of each search for a text, and the most users that one found."""
    took, size = list[float](), 0
    for n in range(options.rounds):
        typed = text.format(n=n * 104_729 % options.count)
        began = time.perf_counter()
        found = await name_search.matches(place.service, place.call(scope), typed)
        took.append((time.perf_counter() - began) * 1000)
        size = max(size, len(found.users))
    return took, size


async def _timed(
    place: Filled, search: Mapping[str, Any], scope: str | None, rounds: int
) -> tuple[list[float], int]:
    """Returns the milliseconds for each page of a walk through the results, and the size of the
    first page."""
    took, cursor, size = list[float](), "", 0
    for n in range(rounds):
        body = {"query": {"limit": 100, "cursor": cursor}, **search}
        request = reading.read(UserSearch, body)
        began = time.perf_counter()
        answer = await user_search.search(place.service, place.call(scope), request)
        took.append((time.perf_counter() - began) * 1000)
        cursor = answer.next_cursor
        size = size if n else len(answer.result)
    return took, size


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.search", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="users")
    parser.add_argument("--rounds", type=int, default=60, help="pages of each search")
    parser.add_argument("--mongodb", metavar="URL", help="a replica set, instead of one's own")
    parser.add_argument("--directory", type=Path, help="where SQLite's file goes")
    parser.add_argument("--back-end", action="append", choices=("sqlite", "mongodb"))
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

"""`python -m benchmarks.sign_in`: measure refused passwords, and many sign-ins at the same
time."""

from __future__ import annotations

import argparse
import asyncio
import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.sign_in import crowd, response_times
from benchmarks.sign_in.people import Administrator
from benchmarks.storage import places
from benchmarks.tables import aligned
from tests.support.programs.program import Program
from tests.support.servers.mongod import fresh_database

_PAT = "admin.pat"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures each back end; returns 1 if a target is missed."""
    options = _parser().parse_args(arguments)
    is_met = True
    with ExitStack() as stack:
        place = stack.enter_context(places.directory(options.directory))
        for back_end in options.back_end or ("sqlite", "mongodb"):
            flags = ["--admin-pat", _PAT]
            if back_end == "mongodb":
                server = stack.enter_context(places.server(options.mongodb))
                flags += ["--store", stack.enter_context(fresh_database(server))]
            directory = place / back_end
            directory.mkdir()
            is_met &= _measured(back_end, directory, flags, options)
    print("\nevery target is met" if is_met else "\na target is missed")
    return 0 if is_met else 1


def _measured(
    back_end: str, directory: Path, flags: Sequence[str], options: argparse.Namespace
) -> bool:
    limits = {
        "IDP_KNOWN_NETWORKS": "127.0.0.0/8",
        "IDP_TRUSTED_PROXIES": "127.0.0.0/8",
        "IDP_IMPORTED_BCRYPT_MIN_COST": 4,
    }
    program = Program(directory, *flags, **limits).start()
    administrator = Administrator(program.issuer, directory / _PAT)
    try:
        differences = [
            difference
            for name, answer in response_times.ANSWERS.items()
            for difference in _differences(
                f"{back_end}: {name}", answer, administrator, program, options
            )
        ]
        saturation = asyncio.run(
            crowd.measured(administrator, program.demo(), options.people, options.seconds)
        )
    finally:
        administrator.close()
        program.kill()
    print(
        f"{back_end}: userinfo, p99 {saturation.idle:.1f} ms idle, {saturation.busy:.1f} ms while",
        end=" ",
    )
    print(
        f"{options.people} people sign in: {saturation.signed_in} did,"
        f" {saturation.put_off} were put off"
    )
    return saturation.is_met and all(difference.is_within for difference in differences)


def _differences(
    title: str,
    answer: response_times.Answer,
    administrator: Administrator,
    program: Program,
    options: argparse.Namespace,
) -> list[response_times.Difference]:
    """Prints the differences between the times of an answer."""
    measuring = response_times.measured(
        answer, administrator, program.demo(), options.tries, options.seed
    )
    differences = asyncio.run(measuring)
    print(f"\n{title}, in milliseconds, and how much longer than for a wrong password's account")
    print(aligned([("account", "median", "95 % from", "to"), *map(_row, differences)]))
    return differences


def _row(difference: response_times.Difference) -> tuple[str, ...]:
    return (
        difference.kind,
        f"{difference.median:.1f}",
        f"{difference.low:+.2f}",
        f"{difference.high:+.2f}",
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.sign_in", description=__doc__)
    parser.add_argument("--tries", type=int, default=400, help="of each kind of account")
    parser.add_argument("--people", type=int, default=200, help="who sign in at once")
    parser.add_argument("--seconds", type=float, default=20, help="they do so for this long")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32), help="of the order")
    parser.add_argument("--mongodb", metavar="URL", help="a replica set, instead of one's own")
    parser.add_argument("--directory", type=Path, help="where the data directories go")
    parser.add_argument("--back-end", action="append", choices=("sqlite", "mongodb"))
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

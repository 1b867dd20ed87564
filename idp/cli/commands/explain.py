"""`idp explain`: shows why a request was refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from idp.cli.settings import store_flags
from idp.cli.working import on_store
from idp.foundation.errors import NotFound
from idp.records import Refusal
from idp.records.refusals import SentParameter
from idp.service import Service

_MARKS: Final = {True: {True: "✓", False: "✗"}, False: {True: "ok ", False: "NOT"}}
_LABEL: Final = 8


@click.command(short_help="Why a request was refused.")
@store_flags
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--last", is_flag=True, help="Explain the newest refusal, instead of that of a request ID."
)
@click.option(
    "--client", metavar="ID", help="With --last: the newest refusal of this application."
)
@click.argument("request_id", required=False)
def explain(
    request_id: str | None,
    last: bool,
    client: str | None,
    as_json: bool,
    config_file: Path | None,
    **flags: object,
) -> None:
    """Explain why a request was refused. The request ID is the X-Request-Id of the response, which
    error pages show, too; refusals are stored for seven days. Example: idp explain
    5xTpVw0mJqk3Yb9cD2eF1g
    """
    if last == (request_id is not None) or (client and not last):
        raise click.UsageError("give a request ID, or --last, optionally with --client")

    async def print_refusals(service: Service) -> None:
        if request_id is None:
            refusals = [await find_newest(service, client)]
        else:
            refusals = [*await find(service, request_id)]
        encoding = sys.stdout.encoding or "ascii"
        click.echo(in_json(refusals) if as_json else in_text(refusals, encoding))

    on_store(print_refusals, config_file, flags)


async def find(service: Service, request_id: str) -> Sequence[Refusal]:
    """Returns the refused requests with this request id, the newest first. Raises NotFound."""
    from idp.oauth.endpoints import refusal_records

    refusals = await refusal_records.find(service, request_id)
    if not refusals:
        raise NotFound(
            "there is no refused request with this ID: those of protocol endpoints are stored"
            " for seven days, and only some of a large number; those of pages are in the log alone"
        )
    return refusals


async def find_newest(service: Service, client_id: str | None) -> Refusal:
    """Returns the newest refused request, or with `client_id` the newest of this application.
    Raises NotFound.
    """
    from idp.oauth.endpoints import refusal_records

    refusal = await refusal_records.newest(service, client_id)
    if refusal is None:
        of_client = f" of the application {client_id}" if client_id else ""
        raise NotFound(f"no request{of_client} was refused in the last seven days")
    return refusal


def in_json(refusals: Sequence[Refusal]) -> str:
    """Returns the refusals as one JSON document."""
    return msgspec.json.encode({"refusals": [_as_json(each) for each in refusals]}).decode()


def _as_json(refusal: Refusal) -> dict[str, Any]:
    return {
        "requestId": refusal.request_id,
        "time": refusal.created_at,
        "endpoint": refusal.endpoint,
        "method": refusal.method,
        "clientId": refusal.client_id,
        "error": refusal.error,
        "told": refusal.told,
        "sent": refusal.sent,
        "registered": refusal.registered,
        "checks": refusal.checks,
        "sentence": refusal.sentence,
        "rule": refusal.rule,
        "fix": refusal.fix,
    }


def in_text(refusals: Sequence[Refusal], encoding: str = "utf-8") -> str:
    """Returns the refusals as text for a terminal with this encoding."""
    is_unicode = encoding.lower().replace("-", "") == "utf8"
    text = "\n\n".join("\n".join(_lines(each, _MARKS[is_unicode])) for each in refusals)
    # A character that the terminal cannot show is escaped.
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _lines(refusal: Refusal, marks: dict[bool, str]) -> list[str]:
    when = refusal.created_at.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC")
    return [
        f"{when}  {refusal.endpoint}  {refusal.method}  {refusal.error}",
        *_labelled("request", refusal.request_id),
        *_labelled("client", refusal.client_id),
        *_listed("sent", [_parameter_text(each) for each in refusal.sent]),
        *_listed("known", refusal.registered),
        *_listed("checked", [f"{marks[check.passed]} {check.says}" for check in refusal.checks]),
        *_labelled("why", refusal.sentence),
        *_labelled("rule", refusal.rule),
        *_labelled("fix", refusal.fix),
        *_labelled("told", refusal.told),
    ]


def _labelled(label: str, text: str | None) -> list[str]:
    return [f"{label:<{_LABEL}}{text}"] if text else []


def _listed(label: str, lines: Sequence[str]) -> list[str]:
    return [f"{label if index == 0 else '':<{_LABEL}}{line}" for index, line in enumerate(lines)]


def _parameter_text(sent: SentParameter) -> str:
    if sent.value is None:
        return f"{sent.name} ({sent.note})"
    return f"{sent.name} = {sent.value}"

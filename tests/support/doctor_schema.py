"""The JSON Schema of `idp doctor --json`: `python -m tests.support.doctor_schema`.

It comes from the struct that the command prints, and from the list of checks. Run as a program it
brings docs/reference/doctor.schema.json up to date; `tests/program/doctor/test_doctor.py` refuses
another file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec

from idp.doctor import AREAS
from idp.doctor.check import State
from idp.doctor.report import CheckView, Findings

FILE = Path(__file__).parents[2] / "docs" / "reference" / "doctor.schema.json"


def schema() -> dict[str, Any]:
    """The schema of the report, in the names of the wire."""
    (findings,), parts = msgspec.json.schema_components([Findings], ref_template="#/$defs/{name}")
    check = parts[CheckView.__name__]
    check["properties"]["id"] = {"enum": [each.id for area in AREAS.values() for each in area]}
    check["properties"]["state"] = {"enum": list(get_args(State))}
    check["properties"]["count"] |= {"pattern": "^[0-9]+$"}
    for part in parts.values():
        if "description" in part:
            part["description"] = " ".join(part["description"].split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "idp doctor --json",
        **findings,
        "$defs": parts,
    }


def text() -> str:
    """The content of the file."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"


def main() -> None:
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()

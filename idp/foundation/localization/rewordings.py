"""Messages that were reworded: stored texts that name one by its former wording still apply."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


def current(context: str, msgid: str) -> str:
    """Returns the present wording of a message, given a present or a former one."""
    seen = {msgid}
    wordings = _next_wordings()
    while (wording := wordings.get((context, msgid))) is not None and wording not in seen:
        seen.add(wording)
        msgid = wording
    return msgid


@cache
def _next_wordings() -> dict[tuple[str, str], str]:
    text = resources.files("locales").joinpath("reword.toml").read_text(encoding="utf-8")
    return {
        (entry["context"], entry["old"]): entry["new"] for entry in tomllib.loads(text)["message"]
    }

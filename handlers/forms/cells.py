"""The values of the console's templates: table cells, properties, action links and sub-lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from handlers.forms import durations
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message

Cell = dict[str, object]

_EMPTY: Final = "–"
_STATES: Final[dict[str, tuple[Message, str | None]]] = {
    "ACTIVE": (message("active", context="console"), "good"),
    "INACTIVE": (message("deactivated", context="console"), "danger"),
    "SUSPENDED": (message("deactivated with its project", context="console"), "danger"),
    "LOCKED": (message("locked", context="console"), "danger"),
}
_NEVER: Final = message("never", context="duration")
YES: Final = message("yes", context="console")
NO: Final = message("no", context="console")


class ListPage(NamedTuple):
    """One page of a sub-list: its records, and the addresses of the first page (None on the first
    page itself) and of the next page (None on the last page)."""

    records: Sequence[Document]
    first_url: str | None = None
    next_url: str | None = None


SINGLE_PAGE: Final = ListPage(())  # for a list that has only one page


def cell(value: object, kind: str = "text", url: str | None = None) -> dict[str, object]:
    """Returns the template value of a table cell or a property. `kind` is how it is displayed:
    text, texts, lines, code, colour, time, moment_ago, duration (in seconds), chip, progress or
    link; `url` is the address of a link, and of a time that has one."""
    return {"value": "" if value is None else value, "kind": kind, "url": url}


def action_link(label: Message, url: str, *, is_dangerous: bool = False) -> dict[str, object]:
    """Returns the template value of a link to a page with an action; `is_dangerous` highlights
    it."""
    return {"label": label, "url": url, "is_dangerous": is_dangerous}


def chip(states: Mapping[str, tuple[Message, str | None]], state: str) -> dict[str, object]:
    """Returns the label and the tone (good, warning, danger or None) of a state. `states` has
    them by the state's name; an unknown state is its own label."""
    label, tone = states.get(state, (Message(state), None))
    return {"label": label, "tone": tone}


def text(value: Message | str | None) -> Cell:
    return cell(value or _EMPTY)


def code(value: str | None) -> Cell:
    return cell(value, "code") if value else text(None)


def codes(values: Sequence[str]) -> Cell:
    """Returns a cell with several identifiers, each on a line of its own."""
    return code("\n".join(values))


def texts(values: Sequence[Message | str]) -> Cell:
    """Returns a cell with several values, each of them framed."""
    return cell(values, "texts") if values else text(None)


def lines(values: Sequence[Message | str]) -> Cell:
    """Returns a cell with several texts, each on a line of its own."""
    return cell(values, "lines")


def link(value: Message | str, url: str) -> Cell:
    return cell(value, "link", url)


def instant(value: str | None, url: str | None = None) -> Cell:
    """Returns a cell with a timestamp of the API, which the page displays in its time zone; with a
    `url`, it is a link."""
    return cell(value, "time", url) if value else text(None)


def moment_ago(at: datetime | None) -> Cell:
    """Returns a cell with how long ago an instant was; None is displayed as "never"."""
    return cell(at, "moment_ago") if at else text(_NEVER)


def duration(value: str | None) -> Cell:
    """Returns a cell with a duration of the API; one without length is displayed as "never"."""
    seconds = durations.seconds(value or "0")
    return cell(seconds, "duration") if seconds else text(_NEVER)


def progress(label: Message, completed: int, total: int) -> Cell:
    """Returns a cell with a progress bar; `label` names the unit that is counted."""
    return cell({"label": label, "done": completed, "total": total}, "progress")


def switch(is_on: bool) -> Cell:
    return text(YES if is_on else NO)


def state(name: str) -> Cell:
    """Returns the label and tone of a state of the API, such as APP_STATE_ACTIVE."""
    return chip(_STATES, name.rpartition("_")[2])


def state_cell(name: str) -> Cell:
    return cell(state(name), "chip")


def labelled_cell(label: Message, cell: Cell) -> dict[str, object]:
    """Returns the template value of a labelled property of the record that a page shows."""
    return {"label": label, "cell": cell}


def sub_list(
    title: Message,
    columns: Sequence[Message],
    rows: Sequence[Sequence[Cell]],
    empty: Message,
    actions: Sequence[dict[str, object]] = (),
    pages: ListPage = SINGLE_PAGE,
) -> dict[str, Any]:
    """Returns the template value of a list on a record's page, or of one page of that list.

    Each of `rows` has one cell per column; `empty` is the text for a list without rows. `actions`
    are links of the list, each a dict of `label`, `url` and `is_dangerous`; `pages` has the
    addresses of the list's first and next page.
    """
    return {
        "title": title,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "empty": empty,
        "actions": list(actions),
        "first_url": pages.first_url,
        "next_url": pages.next_url,
    }

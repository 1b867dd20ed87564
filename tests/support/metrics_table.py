"""The metrics in docs/reference/metrics.md: `python -m tests.support.metrics_table`.

The tables come from the declarations in `idp.foundation.metrics`, in the groups that its comments
name. Run as a program this brings the page up to date; `tox -e docs` refuses a page that
is not.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from idp.foundation import metrics

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
BEGIN = "<!-- metrics: made by python -m tests.support.metrics_table -->"
END = "<!-- end of metrics -->"

_LINE = re.compile(
    r"# (?P<group>[A-Z][\w ,-]+)"
    r"|(?P<name>[A-Z_]+): Final = (?:(?:Counter|Gauge|Histogram)Metric|_gauge_of_each_worker)\(.*"
)
_HEAD = ("| metric | type | labels | meaning |", "|---|---|---|---|")


def groups() -> Iterator[tuple[str, metrics.Metric | None]]:
    """The groups and metrics, as they stand in the source."""
    for line in inspect.getsource(metrics).splitlines():
        found = _LINE.fullmatch(line)
        if found and found["group"]:
            yield found["group"], None
        elif found:
            yield "", getattr(metrics, found["name"])


def tables() -> str:
    """A table for each group."""
    lines: list[str] = []
    for group, metric in groups():
        if metric is None:
            lines += ["", f"## {group}", "", *_HEAD]
        else:
            lines.append(_row(metric))
    return "\n".join([*lines, ""])


def _row(metric: metrics.Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "–"
    name = f"`{metrics.PREFIX}{metric.name}`"
    return f"| {name} | {metric.kind.lower()} | {labels} | {metric.meaning} |"


def documented(page: str) -> set[str]:
    """The names of the metrics in the tables of a page."""
    return set(re.findall(rf"^\| `{metrics.PREFIX}(\w+)`", page, re.MULTILINE))


def replaced(page: str) -> str:
    """The page with the metrics of today."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n{tables()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Plots of figures over time, as values for `templates/console/plot.mako`.

A plot is drawn in SVG paths without absolute lengths: the page stretches it to the room that it
has. Its texts are HTML beside it. Two series differ by their shape as well as by their colour. In
languages that are written from right to left, time runs from the right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo
from typing import Any, Final, Literal, NamedTuple

from idp.foundation.i18n import Bundle, Message, message
from idp.foundation.localization import local_time
from idp.usage.counts import Step

WIDTH: Final = 1000
HEIGHT: Final = 200
MAX_MARKED: Final = 31  # points of a line that have a mark each
_TOPS: Final = (2, 4, 6, 10)  # of the scale, times a power of ten
_TIMES: Final = 4  # texts below the plot, at most
_BAR_SHARE: Final = 0.8  # of the room of an hour or day

Kind = Literal["lines", "bars"]


class Series(NamedTuple):
    """Numbers over time, and what they count."""

    label: Message
    numbers: Sequence[int]


class Figures(NamedTuple):
    """Two series of numbers. `empty` is the text in place of their plot if all are 0."""

    title: Message
    pair: tuple[Series, Series]
    empty: Message


class PlotContext(NamedTuple):
    """The hours or days of a plot, and the language and time zone of its page."""

    times: Sequence[datetime]
    step: Step
    bundle: Bundle
    zone: tzinfo


def values(kind: Kind, figures: Figures, context: PlotContext) -> dict[str, Any]:
    """Returns the values of a plot.

    Of `lines`, the first is solid, with round marks and an area below it, and the second is dashed
    with square marks. Of `bars`, each first one is filled, and each second one an outline.
    """
    tag, texts = context.bundle.tag, _times(context)
    numbers = [series.numbers for series in figures.pair]
    top = scale_top(max(map(max, numbers)))
    return {
        "kind": kind,
        "title": figures.title,
        "empty": figures.empty if not any(map(any, numbers)) else None,
        "sentence": _sentence(figures.pair, texts, context.bundle),
        "paths": _paths(kind, numbers, top, is_mirrored=context.bundle.direction == "rtl"),
        "labels": [series.label for series in figures.pair],
        "scale": [local_time.number(n, tag) for n in (top, top // 2, 0)],
        "times": _some(texts),
    }


def table(figures: Sequence[Figures], context: PlotContext) -> dict[str, Any]:
    """Returns the values of the table of all numbers of these plots."""
    series = [each for one in figures for each in one.pair]
    columns = zip(*(each.numbers for each in series), strict=True)
    return {
        "labels": [each.label for each in series],
        "rows": [
            (text, [local_time.number(n, context.bundle.tag) for n in row])
            for text, row in zip(_times(context), columns, strict=True)
        ],
    }


def _times(context: PlotContext) -> list[str]:
    """Returns the text of each hour, in the time zone of the page, or of each day of UTC."""
    tag = context.bundle.tag
    if context.step == "HOUR":
        return [local_time.clock_time(at, context.zone, tag) for at in context.times]
    return [local_time.short_date(at, tag) for at in context.times]


def _some(texts: Sequence[str]) -> list[str]:
    """Returns a few of the texts, at equal distances, with the first and the last."""
    last = len(texts) - 1
    places = dict.fromkeys(round(last * n / (_TIMES - 1)) for n in range(_TIMES))
    return [texts[place] for place in places]


def _sentence(pair: tuple[Series, Series], times: Sequence[str], bundle: Bundle) -> str:
    labels = [bundle.text(each.label) for each in pair]
    totals = [local_time.number(sum(each.numbers), bundle.tag) for each in pair]
    sentence = message(
        "From %(start)s to %(end)s. %(first)s: %(first_total)s. %(second)s: %(second_total)s.",
        context="figures",
        start=times[0],
        end=times[-1],
        first=labels[0],
        first_total=totals[0],
        second=labels[1],
        second_total=totals[1],
    )
    return bundle.text(sentence)


def scale_top(largest: int) -> int:
    """Returns the even number at which the scale of a plot ends: at least `largest`, and round."""
    power = 1
    while _TOPS[-1] * power < largest:
        power *= 10
    return next(top * power for top in _TOPS if top * power >= largest)


def _paths(
    kind: Kind, numbers: Sequence[Sequence[int]], top: int, *, is_mirrored: bool
) -> list[tuple[str, str]]:
    """Returns the paths of a plot, in the order in which they are drawn: the name of the look and
    the data of each."""
    if is_mirrored:
        numbers = [series[::-1] for series in numbers]
    heights = [[round(HEIGHT * number / top) for number in series] for series in numbers]
    if kind == "lines":
        return list(_lines(heights))
    places = (1, 0) if is_mirrored else (0, 1)
    return [
        (f"bar-{n}", _bars(series, place))
        for n, (series, place) in enumerate(zip(heights, places, strict=True), start=1)
    ]


def _lines(heights: Sequence[Sequence[int]]) -> Iterator[tuple[str, str]]:
    room = WIDTH / len(heights[0])
    for n, series in enumerate(heights, start=1):
        points = [
            f"{round(room * (place + 0.5))} {HEIGHT - height}"
            for place, height in enumerate(series)
        ]
        line = "M" + " ".join(points)
        if n == 1:
            yield "area", f"{line}V{HEIGHT}H{round(room / 2)}Z"
        yield f"line-{n}", line
        if len(points) <= MAX_MARKED:
            yield f"mark-{n}", "".join(f"M{point}Z" for point in points)


def _bars(heights: Sequence[int], place: int) -> str:
    """Returns the data of one bar for each height above 0: the left or right one (`place`) of a
    pair."""
    room = WIDTH / len(heights)
    width = room * _BAR_SHARE / 2
    lefts = [room * (n + 0.5) + width * (place - 1) for n in range(len(heights))]
    return "".join(
        f"M{round(left)} {HEIGHT}v-{height}h{round(width)}v{height}"
        for left, height in zip(lefts, heights, strict=True)
        if height
    )

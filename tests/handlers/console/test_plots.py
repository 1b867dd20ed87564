"""Plots: what is drawn, in both directions of writing, and what is said instead."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from handlers.console import plots
from handlers.console.plots import Figures, PlotContext, Series
from idp.foundation import i18n
from idp.foundation.i18n import message
from idp.foundation.localization import local_time
from tests.support.pages.rendered import rendered

SIGN_INS = Series(message("Sign-ins", context="figures"), [1, 4, 0, 2])
FAILURES = Series(message("Failed attempts", context="figures"), [0, 0, 3, 1])
FIGURES = Figures(message("Sign-ins", context="figures"), (SIGN_INS, FAILURES), message("None."))
DAYS = [datetime(2030, 1, 30, tzinfo=UTC) + timedelta(days=n) for n in range(4)]


def context(tag="en", *, step="DAY", zone="UTC", times=DAYS):
    return PlotContext(times, step, i18n.load(tag), local_time.zone(zone))


def paths(kind, tag="en", figures=FIGURES):
    return dict(plots.values(kind, figures, context(tag))["paths"])


def test_a_line_goes_through_the_middle_of_each_day_and_up_to_the_top_of_the_scale():
    drawn = paths("lines")

    assert drawn["line-1"] == "M125 150 375 0 625 200 875 100"
    assert drawn["area"] == "M125 150 375 0 625 200 875 100V200H125Z"
    assert drawn["mark-1"] == "M125 150ZM375 0ZM625 200ZM875 100Z"


def test_a_bar_is_drawn_for_each_number_but_0_and_beside_that_of_the_other_series():
    drawn = paths("bars")

    assert drawn["bar-1"] == "M25 200v-50h100v50M275 200v-200h100v200M775 200v-100h100v100"
    assert drawn["bar-2"] == "M625 200v-150h100v150M875 200v-50h100v50"


def test_time_runs_from_the_right_in_languages_that_do():
    bar = paths("bars", "ar")["bar-1"]

    assert paths("lines", "ar")["line-1"] == "M125 100 375 200 625 0 875 150"
    assert bar == "M125 200v-100h100v100M625 200v-200h100v200M875 200v-50h100v50"
    assert plots.values("lines", FIGURES, context("ar"))["times"][0].startswith("30")


def test_series_differ_by_more_than_their_colour():
    assert set(paths("lines")) == {"area", "line-1", "line-2", "mark-1", "mark-2"}
    assert set(paths("bars")) == {"bar-1", "bar-2"}


def test_points_have_no_marks_where_these_would_touch():
    times = [DAYS[0] + timedelta(days=n) for n in range(90)]
    many = FIGURES._replace(pair=(Series(message("A"), [1] * 90), Series(message("B"), [0] * 90)))
    drawn = plots.values("lines", many, context(times=times))

    assert [look for look, _ in drawn["paths"]] == ["area", "line-1", "line-2"]
    assert drawn["times"] == ["Jan 30", "Mar 1", "Mar 30", "Apr 29"]


@pytest.mark.every_row
@pytest.mark.parametrize(
    ("largest", "top"), [(0, 2), (1, 2), (3, 4), (5, 6), (7, 10), (11, 20), (45, 60), (1001, 2000)]
)
def test_the_scale_ends_at_a_round_even_number(largest, top):
    assert plots.scale_top(largest) == top


def test_a_sentence_says_from_when_to_when_and_the_sums():
    spoken = plots.values("lines", FIGURES, context())["sentence"]

    assert spoken == "From Jan 30 to Feb 2. Sign-ins: 7. Failed attempts: 4."


def test_the_table_has_all_numbers_in_the_language_of_the_page():
    many = FIGURES._replace(pair=(SIGN_INS._replace(numbers=[1, 4, 0, 12_345]), FAILURES))
    table = plots.table([many], context("de"))

    assert table["rows"][0] == ("30. Jan.", ["1", "0"])
    assert table["rows"][3] == ("2. Feb.", ["12.345", "1"])


def test_hours_are_those_of_the_time_zone_and_days_those_of_utc():
    hours = context(step="HOUR", zone="Asia/Tokyo")
    days = context(zone="America/Los_Angeles")

    assert plots.values("lines", FIGURES, hours)["times"][0] == "9:00\u202fAM"
    assert plots.values("lines", FIGURES, days)["times"][0] == "Jan 30"


def test_a_plot_of_nothing_is_a_sentence():
    nothing = FIGURES._replace(pair=(FAILURES._replace(numbers=[0] * 4),) * 2)

    assert plots.values("bars", nothing, context())["empty"] == message("None.")
    assert plots.values("bars", FIGURES, context())["empty"] is None


def test_what_a_page_draws_is_well_formed():
    html = rendered("console/overview", "en")
    drawn = re.findall(r"<svg role=.*?</svg>", html, re.DOTALL)

    assert len(drawn) == 2
    for each in drawn:
        svg = ElementTree.fromstring(each)
        assert svg.get("role") == "img"
        assert svg.get("aria-label")
        assert all(set(path.keys()) == {"class", "d"} for path in svg)
        assert "style" not in each

"""Figures of a test that its closing summary repeats: a pytest plug-in.

def test_…(record_property):
    record_property("counts", "200 kills, 0 lost")
"""

from __future__ import annotations

PROPERTY = "counts"


def pytest_terminal_summary(terminalreporter):
    lines = [
        f"{report.nodeid}: {figures}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, figures in report.user_properties
        if name == PROPERTY
    ]
    if lines:
        terminalreporter.section("counts")
        for line in lines:
            terminalreporter.write_line(line)

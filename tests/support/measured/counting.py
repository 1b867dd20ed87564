"""Metrics of the process that runs the tests.

counted     within the test this process counts; `counted(name, **labels)` is what a scrape
            shows: a number, or None where nothing was counted
"""

from __future__ import annotations

import pytest

from idp.foundation import metrics


class Counted:
    """The metrics that this process has counted in a directory."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, name, **labels):
        return metrics.collected(self.directory).get_sample_value(f"idp_{name}", labels)

    def series(self):
        """The names and labels of all metrics of a scrape."""
        return {
            (sample.name, *sorted(sample.labels.items()))
            for family in metrics.collected(self.directory).collect()
            for sample in family.samples
        }


@pytest.fixture
def counted(tmp_path):
    directory = tmp_path / "metrics"
    directory.mkdir()
    metrics.reserve(directory, "0", is_worker=True)
    metrics.enable(directory, "0")
    yield Counted(directory)
    metrics.disable()

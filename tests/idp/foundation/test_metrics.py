"""Metrics: nothing is counted before it is enabled, and a replaced process goes on counting."""

from __future__ import annotations

import threading
from itertools import product
from typing import get_args

import pytest

from idp.foundation import metrics
from idp.foundation.metrics import store_calls
from idp.identity.guesses import reports
from idp.server import supervision


@pytest.fixture
def directory(tmp_path):
    """A directory in which this process counts as worker 0, with room for worker 1."""
    for process in ("0", "1"):
        metrics.reserve(tmp_path, process, is_worker=True)
    metrics.enable(tmp_path, "0")
    yield tmp_path
    metrics.disable()


def value(directory, name, **labels):
    """What a scrape shows; None where it shows nothing."""
    return metrics.collected(directory).get_sample_value(f"idp_{name}", labels)


def test_nothing_is_counted_before_it_is_enabled(tmp_path):
    metrics.HASHING_REFUSED.count()
    metrics.HASHING_WAITING.set(3)
    metrics.HASHING_WAIT.observe(0.1)
    metrics.reserve(tmp_path, "0", is_worker=True)
    metrics.enable(tmp_path, "0")
    metrics.disable()
    metrics.HASHING_REFUSED.count()

    assert value(tmp_path, "hashing_refused_total") == 0
    assert value(tmp_path, "hashing_waiting") == 0
    assert value(tmp_path, "hashing_wait_seconds_count") == 0


def test_a_replaced_process_goes_on_counting_where_the_one_before_ended(directory):
    metrics.SHED.count("people", "queue")
    metrics.enable(directory, "1")
    metrics.SHED.count("people", "queue", by=2)
    metrics.enable(directory, "0")
    metrics.SHED.count("people", "queue")

    assert value(directory, "shed_total", group="people", reason="queue") == 4
    assert len(list(directory.iterdir())) == 10


def test_the_gauges_of_a_process_that_has_ended_are_gone_and_its_counters_stay(directory):
    metrics.enable(directory, "1")
    metrics.HASHING_WAITING.set(5)
    metrics.PROCESS_OPEN_FDS.set(40, "1")
    metrics.HASHING_REFUSED.count()
    metrics.enable(directory, "0")
    metrics.HASHING_WAITING.set(2)
    metrics.remove_running("1")

    assert value(directory, "hashing_waiting") == 2
    assert value(directory, "process_open_fds", worker="1") is None
    assert value(directory, "hashing_refused_total") == 1
    metrics.enable(directory, "1")
    metrics.HASHING_WAITING.set(1)
    assert value(directory, "hashing_waiting") == 3


def test_a_histogram_has_the_buckets_and_the_sum_of_its_values(directory):
    for seconds in (0.0, 0.005, 0.0051, 10.0, 10.1, 99.0):
        metrics.HASHING.observe(seconds, "argon2id")
    buckets = {
        bound: value(directory, "hashing_seconds_bucket", scheme="argon2id", le=bound)
        for bound in ("0.005", "0.01", "5.0", "10.0", "+Inf")
    }

    assert buckets == {"0.005": 2, "0.01": 3, "5.0": 3, "10.0": 4, "+Inf": 6}
    assert value(directory, "hashing_seconds_count", scheme="argon2id") == 6
    assert value(directory, "hashing_seconds_sum", scheme="argon2id") == pytest.approx(119.1101)


@pytest.mark.full
def test_counts_of_several_threads_are_all_kept(directory):
    def count():
        for _ in range(2_000):
            metrics.HASHING_REFUSED.count()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert value(directory, "hashing_refused_total") == 8_000


def test_other_labels_than_the_declared_ones_are_refused_where_they_are_counted(directory):
    with pytest.raises(ValueError, match="label"):
        metrics.SHED.count("people")
    with pytest.raises(ValueError, match="label"):
        metrics.HASHING_REFUSED.count("people")
    with pytest.raises(ValueError, match="label"):
        metrics.HASHING_WAIT.observe(1, "people")
    with pytest.raises(ValueError, match="label"):
        metrics.HASHING_WAITING.set(1, "people")


def test_a_gauge_of_the_store_shows_what_was_set_last(directory):
    metrics.OUTBOX_MESSAGES.set(7, "mail", "due")
    metrics.enable(directory, "1")
    metrics.OUTBOX_MESSAGES.set(4, "mail", "due")

    assert value(directory, "outbox_messages", channel="mail", state="due") == 4


def test_a_store_s_reports_are_counted(directory):
    (observer,) = store_calls.observers()
    observer.swept("counters", 3)
    observer.swept("counters", 2)
    observer.log_copied(0.2)
    observer.pool(4, 6)
    observer.pool_waits("reads", [0.0, 0.3])

    assert value(directory, "swept_total", collection="counters") == 5
    assert value(directory, "sqlite_checkpoint_seconds_sum") == 0.2
    assert value(directory, "mongo_pool_connections", state="active") == 4
    assert value(directory, "mongo_pool_connections", state="idle") == 6
    assert value(directory, "mongo_pool_wait_seconds_count", queue="reads") == 2


def test_series_with_known_labels_are_zero_before_the_first_count(directory):
    counts = [
        value(directory, "worker_restarts_total", reason="hung"),
        value(directory, "refreshes_total", outcome="replayed"),
        value(directory, "sign_ins_total", outcome="accepted", method="password"),
    ]
    metrics.WORKER_RESTARTS.count("hung")

    assert counts == [0, 0, 0]
    assert value(directory, "worker_restarts_total", reason="hung") == 1


def test_the_series_that_begin_with_zero_are_those_that_are_counted():
    outcomes = product(get_args(reports.Cause), get_args(reports.Secret))
    reasons = product(get_args(supervision.RestartReason))

    assert set(metrics.SIGN_INS.zeroes) == set(outcomes)
    assert set(metrics.WORKER_RESTARTS.zeroes) == set(reasons)


def test_files_have_room_for_5000_series_before_anything_is_counted(directory):
    sizes = {path.name: path.stat() for path in directory.iterdir()}

    assert all(status.st_blocks * 512 >= status.st_size for status in sizes.values())
    for number in range(5_000):
        metrics.HTTP_REQUESTS.count("management", "DELETE", f"{number:03}")
    grown = {path.name: path.stat().st_size for path in directory.iterdir()}
    assert grown == {name: status.st_size for name, status in sizes.items()}


def test_every_metric_says_what_it_is_and_has_a_unit_in_its_name():
    for metric in metrics.DECLARED.values():
        assert metric.meaning.endswith(".")
        assert metric.name.endswith("_total") == isinstance(metric, metrics.CounterMetric), (
            metric.name
        )

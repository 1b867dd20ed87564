"""Metrics of scheduled tasks."""

from __future__ import annotations

from datetime import datetime

from idp.foundation import metrics


def record_scheduled(name: str, interval_seconds: float) -> None:
    """Records that this process begins to schedule a job; when it last succeeded remains that of
    the processes before, so that restarts hide no failure."""
    for outcome in ("done", "failed"):
        metrics.JOB_RUNS.count(name, outcome, by=0)
    metrics.JOB_INTERVAL.set(interval_seconds, name)


def record_run(name: str, seconds: float, *, is_done: bool) -> None:
    """Counts a run of a job, which took `seconds`; `is_done` says whether it succeeded."""
    metrics.JOB_RUNS.count(name, "done" if is_done else "failed")
    metrics.JOB.observe(seconds, name)


def record_up_to_date(name: str, now: datetime) -> None:
    """Records that a job has nothing left to do now."""
    metrics.JOB_LAST_SUCCESS.set(now.timestamp(), name)

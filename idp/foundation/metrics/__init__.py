"""The metrics of the service: each one is declared here, and other modules count with it.

`docs/reference/metrics.md` is made from these declarations:
`python -m tests.support.metrics_table`.
"""

from __future__ import annotations

from itertools import product
from typing import Final

from idp.foundation.metrics.instruments import (
    DECLARED,
    LATEST_RUNNING,
    PREFIX,
    SUM,
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
    Metric,
    collected,
    disable,
    enable,
    process_name,
    remove_running,
    reserve,
)

__all__ = [
    "DECLARED",
    "PREFIX",
    "CounterMetric",
    "GaugeMetric",
    "HistogramMetric",
    "Metric",
    "collected",
    "disable",
    "enable",
    "remove_running",
    "process_name",
    "reserve",
]

_STORE_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
_LAG_BUCKETS: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
_JOB_BUCKETS: Final = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0)
_POWERS_OF_TWO: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def _gauge_of_each_worker(name: str, meaning: str) -> GaugeMetric:
    return GaugeMetric(name, meaning, ("worker",), combined_by=LATEST_RUNNING)


# The service
BUILD_INFO: Final = GaugeMetric(
    "build_info", "The version that runs; always 1.", ("version", "python")
)
STORE_INFO: Final = GaugeMetric(
    "store_info",
    "The store: 1; 0 for a version that it had before.",
    ("kind", "server_version"),
)

# Traffic
HTTP_REQUESTS: Final = CounterMetric(
    "http_requests_total", "Requests that were answered.", ("endpoint", "method", "status")
)
HTTP_REQUEST_DURATION: Final = HistogramMetric(
    "http_request_duration_seconds",
    "Time from a request's head to the end of its answer.",
    ("endpoint",),
)
HTTP_IN_FLIGHT: Final = GaugeMetric(
    "http_in_flight", "Requests that are being worked on.", ("group",), combined_by=SUM
)
HTTP_WAITING: Final = GaugeMetric(
    "http_waiting", "Requests that wait for their turn.", ("group",), combined_by=SUM
)
HTTP_WAIT: Final = HistogramMetric(
    "http_wait_seconds", "How long requests waited for their turn.", ("group",)
)
HTTP_CONNECTIONS: Final = GaugeMetric(
    "http_connections", "Open connections.", ("state",), combined_by=SUM
)
HTTP_CONNECTIONS_CLOSED: Final = CounterMetric(
    "http_connections_closed_total", "Connections that the service closed.", ("reason",)
)
SHED: Final = CounterMetric(
    "shed_total", "Requests that were turned away for lack of room.", ("group", "reason")
)

# Sign-in
SIGN_INS: Final = CounterMetric(
    "sign_ins_total",
    "Steps of sign-ins, by how they ended.",
    ("outcome", "method"),
    zeroes=product(
        ("accepted", "unknown", "wrong", "unusable", "closed", "locked", "paced", "network"),
        ("password", "totp", "recovery_code", "user_code", "mail_code"),
    ),
)
THROTTLED: Final = CounterMetric(
    "throttled_total",
    "Requests that were refused by a limit of their own.",
    ("kind",),
    zeroes=product(("account", "client", "network", "request", "token")),
)
HASHING_WAITING: Final = GaugeMetric(
    "hashing_waiting", "Passwords that wait to be hashed.", combined_by=SUM
)
HASHING_RUNNING: Final = GaugeMetric(
    "hashing_running", "Passwords that are being hashed.", combined_by=SUM
)
HASHING_THREADS: Final = GaugeMetric(
    "hashing_threads", "Threads that hash passwords.", combined_by=SUM
)
HASHING_WAIT: Final = HistogramMetric(
    "hashing_wait_seconds", "How long passwords waited for a thread."
)
HASHING: Final = HistogramMetric("hashing_seconds", "How long a hash took.", ("scheme",))
HASHING_REFUSED: Final = CounterMetric(
    "hashing_refused_total", "Passwords that were not hashed, as too many waited."
)

# Protocol
REFUSALS: Final = CounterMetric(
    "refusals_total",
    "Protocol requests that were refused, by the check.",
    ("endpoint", "check", "error"),
)
TOKENS_ISSUED: Final = CounterMetric(
    "tokens_issued_total", "Access tokens that were issued.", ("grant", "format")
)
REFRESHES: Final = CounterMetric(
    "refreshes_total",
    "Uses of refresh tokens.",
    ("outcome",),
    zeroes=product(("rotated", "repeated", "replayed", "refused")),
)

# Store
STORE_COMMANDS: Final = CounterMetric(
    "store_commands_total", "Commands to the store.", ("command", "outcome")
)
STORE_COMMAND: Final = HistogramMetric(
    "store_command_seconds",
    "How long a command to the store took.",
    ("command",),
    buckets=_STORE_BUCKETS,
)
STORE_BATCH_SIZE: Final = HistogramMetric(
    "store_batch_size",
    "Reads or units of writes that shared a command.",
    ("kind",),
    buckets=_POWERS_OF_TWO,
)
STORE_COMMANDS_PER_REQUEST: Final = HistogramMetric(
    "store_commands_per_request",
    "Reads and units of writes of a request.",
    ("endpoint",),
    buckets=_POWERS_OF_TWO,
)
MONGO_PRIMARY_CHANGES: Final = CounterMetric(
    "mongo_primary_changes_total", "Times that a process saw MongoDB have another primary."
)
MONGO_POOL_CONNECTIONS: Final = GaugeMetric(
    "mongo_pool_connections", "Connections to MongoDB's servers.", ("state",), combined_by=SUM
)
MONGO_POOL_WAIT: Final = HistogramMetric(
    "mongo_pool_wait_seconds",
    "How long commands waited for a connection to MongoDB.",
    ("queue",),
    buckets=_STORE_BUCKETS,
)
SWEPT: Final = CounterMetric(
    "swept_total",
    "Expired records that were removed from SQLite; MongoDB removes them itself.",
    ("collection",),
)
SQLITE_CHECKPOINT: Final = HistogramMetric(
    "sqlite_checkpoint_seconds", "How long SQLite's log took to be copied into the file."
)
SQLITE_BYTES: Final = GaugeMetric("sqlite_bytes", "Sizes of the SQLite store.", ("file",))
DISK_FREE: Final = GaugeMetric("disk_free_bytes", "Free room on the disk of the data directory.")
DISK_SIZE: Final = GaugeMetric("disk_size_bytes", "Size of the disk of the data directory.")
STORE_WRITABLE: Final = GaugeMetric("store_writable", "Whether the store takes writes: 1 or 0.")

# Workers
WORKER_UP: Final = _gauge_of_each_worker(
    "worker_up", "Whether the worker's event loop ran within 5 s: 1 or 0."
)
WORKER_HEARTBEAT_AGE: Final = _gauge_of_each_worker(
    "worker_heartbeat_age_seconds", "Time since the worker's event loop ran."
)
WORKER_RESTARTS: Final = CounterMetric(
    "worker_restarts_total",
    "Workers that were replaced.",
    ("reason",),
    zeroes=product(("exit", "hung", "signal")),
)
EVENT_LOOP_LAG: Final = HistogramMetric(
    "event_loop_lag_seconds",
    "How late the event loop runs a timer of 250 ms.",
    buckets=_LAG_BUCKETS,
)
PROCESS_MEMORY: Final = _gauge_of_each_worker("process_memory_bytes", "Resident memory.")
PROCESS_CPU: Final = CounterMetric("process_cpu_seconds_total", "Processor time.", ("worker",))
PROCESS_OPEN_FDS: Final = _gauge_of_each_worker("process_open_fds", "Open file descriptors.")
PROCESS_MAX_FDS: Final = _gauge_of_each_worker(
    "process_max_fds", "File descriptors that may be open."
)

# Background
OUTBOX_MESSAGES: Final = GaugeMetric(
    "outbox_messages", "Messages in the outbox, up to 10,000.", ("channel", "state")
)
OUTBOX_OLDEST: Final = GaugeMetric(
    "outbox_oldest_seconds", "Age of the oldest message that is due.", ("channel",)
)
DELIVERIES: Final = CounterMetric(
    "deliveries_total",
    "Attempts to deliver a message.",
    ("channel", "outcome"),
    zeroes=product(("mail", "sms", "back_channel"), ("sent", "retried", "failed")),
)
JOB_RUNS: Final = CounterMetric("job_runs_total", "Runs of scheduled jobs.", ("task", "outcome"))
JOB: Final = HistogramMetric(
    "job_seconds", "How long a run of a scheduled job took.", ("task",), buckets=_JOB_BUCKETS
)
JOB_LAST_SUCCESS: Final = GaugeMetric(
    "job_last_success_timestamp_seconds",
    "When a scheduled job last succeeded or had nothing to do, as far as processes here know.",
    ("task",),
)
JOB_INTERVAL: Final = GaugeMetric(
    "job_interval_seconds", "How often a scheduled job is due.", ("task",)
)
KEY_AGE: Final = GaugeMetric(
    "key_age_seconds", "Time since a signing key is in its state.", ("algorithm", "state")
)
KEY_ROTATION: Final = GaugeMetric(
    "key_rotation_seconds", "How long a signing key signs: key_rotation_seconds."
)
CERTIFICATE_EXPIRY: Final = GaugeMetric(
    "certificate_expiry_timestamp_seconds", "When the TLS certificate expires."
)
BACKUP_LAST_SUCCESS: Final = GaugeMetric(
    "backup_last_success_timestamp_seconds",
    "When the last verified backup in backup_dir was made; 0 if there is none.",
)
AUDIT_UNSEALED: Final = GaugeMetric(
    "audit_unsealed", "Events that have no position in their stream yet, up to 10,000."
)
AUDIT_UNSEALED_AGE: Final = GaugeMetric(
    "audit_unsealed_oldest_seconds",
    "Age of the oldest event that has no position in its stream yet; up to 900 is usual.",
)
LOG_LINES: Final = CounterMetric(
    "log_lines_total",
    "Lines that were logged.",
    ("level",),
    zeroes=product(("debug", "info", "warning", "error")),
)
LOG_LINES_SUPPRESSED: Final = CounterMetric(
    "log_lines_suppressed_total", "Repeated lines that were held back."
)

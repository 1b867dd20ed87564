"""The metric of an export that follows the audit log, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from idp.config.urls import address_and_port
from idp.foundation.clock import Clock
from idp.foundation.errors import ConfigError

UP_TO_DATE: Final = "idp_audit_export_up_to_date_timestamp_seconds"
_MEANING: Final = "When every sealed event was exported; 0 if that was not yet so."


@contextmanager
def serving(address: str | None, clock: Clock) -> Iterator[Callable[[], None]]:
    """Serves the metric at ADDRESS:PORT within the block; with None, nowhere. The value is a
    function that records that every event is exported. Raises ConfigError."""
    if address is None:
        yield lambda: None
        return
    from prometheus_client import CollectorRegistry, Gauge, start_http_server

    registry = CollectorRegistry()
    gauge = Gauge(UP_TO_DATE, _MEANING, registry=registry)
    try:
        host, port = address_and_port(address)
        server, thread = start_http_server(port, host, registry)
    except ValueError as error:
        raise ConfigError([f"--metrics-listen {error}"]) from None
    except OSError as error:
        raise ConfigError([f"{address} can't be listened on: {error.strerror}"]) from error
    try:
        yield lambda: gauge.set(clock.now().timestamp())
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

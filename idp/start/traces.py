"""The configuration of traces: the collector, its headers, and the description of this process."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from idp import __version__
from idp.config.settings import Config
from idp.foundation import tracing
from idp.foundation.errors import ConfigError

_PATH: Final = "/v1/traces"
_HEADER: Final = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*=[ \t]*([\x21-\x7e][\x20-\x7e]*)")


def check(config: Config) -> None:
    """Raises ConfigError if traces are configured and the libraries are not installed, or the file
    of headers can't be used."""
    if config.otlp_endpoint is None:
        return
    if not tracing.is_installed():
        raise ConfigError(["otlp_endpoint needs OpenTelemetry's libraries: install idp[otel]"])
    _headers(config)


def load(config: Config) -> None:
    """Imports the libraries if traces are configured: once, for all processes that are forked."""
    if config.otlp_endpoint is not None:
        import idp.foundation.tracing.exporting
        import idp.foundation.tracing.store_spans  # noqa: F401


@asynccontextmanager
async def running(config: Config) -> AsyncIterator[None]:
    """Within the block, this process records traces if they are configured. Raises ConfigError."""
    if config.otlp_endpoint is None:
        yield
        return
    from idp.foundation.tracing import exporting

    url, headers = config.otlp_endpoint.rstrip("/") + _PATH, _headers(config)
    async with exporting.running(url, headers, config.trace_ratio, _resource()):
        yield


def _resource() -> dict[str, str]:
    """Returns the attributes by which a collector distinguishes processes."""
    name = os.uname().nodename
    return {
        "service.name": "idp",
        "service.version": __version__,
        "service.instance.id": f"{name}-{os.getpid()}",
    }


def _headers(config: Config) -> dict[str, str]:
    """Returns the headers of the file. Raises ConfigError, without any content of the file."""
    if config.otlp_headers_file is None:
        return {}
    try:
        text = Path(config.otlp_headers_file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError([f"otlp_headers_file can't be read: {reason}"]) from error
    headers: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        match = _HEADER.fullmatch(line.strip())
        if match is None:
            raise ConfigError([f"otlp_headers_file: line {number} is not name=value"])
        headers[match[1]] = match[2]
    return headers

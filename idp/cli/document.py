"""A JSON document, as commands send and print it."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]

"""Objects that are alive without the garbage collector."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from weakref import WeakSet


@contextmanager
def made(monkeypatch, module, name):
    """The instances of a class that are alive, without the collector."""
    alive = WeakSet()
    kind = getattr(module, name)

    class Counted(kind):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            alive.add(self)

    monkeypatch.setattr(module, name, Counted)
    gc.collect()
    gc.disable()
    try:
        yield alive
    finally:
        gc.enable()

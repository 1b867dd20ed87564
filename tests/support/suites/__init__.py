"""The three suites: which tests are in each, what the gate refuses, and its promises.

gate   what runs in this process alone, over stores in memory: every change has to pass it
full   the gate, and what needs MongoDB, programs, Chromium or the clients of others
load   what looks at seconds, aims at a moment of another process, or takes long
"""

from __future__ import annotations

from typing import Final

GATE: Final = "gate"
FULL: Final = "full"
LOAD: Final = "load"
SUITES: Final = (GATE, FULL, LOAD)

"""Which Chromium the tests use, and how it is started."""

from __future__ import annotations

import shutil

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page shown from a copy may still take its stylesheet from loopback.
    "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
]


def executable():
    """Chromium without its windows, where there is one: pages at less than half the cost."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


def hosts(*rules):
    """The flag by which Chromium finds hosts elsewhere; no name is looked up for them."""
    return "--host-resolver-rules=" + ", ".join(f"MAP {rule}" for rule in rules)

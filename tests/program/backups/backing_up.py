"""What the tests of backups share."""

from __future__ import annotations

from pathlib import Path

from idp.foundation.clock import SystemClock

PASSPHRASE = "correct horse battery canary"
CLOCK = SystemClock()


def write_passphrase(directory, text=PASSPHRASE, name="secret"):
    path = Path(directory) / name
    path.write_text(f"{text}\n")
    path.chmod(0o600)
    return path


def url(directory, data="idp-data"):
    return f"sqlite:///{directory}/{data}/idp.sqlite3"


def without_leases(records):
    """The turns at background work end within seconds, and what has ended does not come back."""
    return [each for each in records[1:] if each[0].name != "leases"]

"""An observer that records everything."""

from __future__ import annotations

from storage import Observer


class RecordingObserver(Observer):
    def __init__(self):
        self.calls = []
        self.batches = []
        self.primaries = []
        self.sweeps = []
        self.copies = []
        self.pools = []
        self.waits = []

    def began(self, kind, method):
        self.calls.append({"kind": kind, "method": method, "batches": []})
        return self.calls[-1]

    def ended(self, call, error):
        call["error"] = error and type(error).__name__

    def batch(self, batch):
        self.batches.append(batch)
        for call in batch.calls:
            if call is not None:
                call["batches"].append(batch)

    def primary_changed(self, address):
        self.primaries.append(address)

    def swept(self, collection, records):
        self.sweeps.append((collection, records))

    def log_copied(self, seconds):
        self.copies.append(seconds)

    def pool(self, active, idle):
        self.pools.append((active, idle))

    def pool_waits(self, queue, seconds):
        self.waits += [(queue, each) for each in seconds]

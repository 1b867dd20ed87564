"""The product's command line, which notes when a request asks for the hash of a password, and when
that begins and has ended.

The file that NOTES_VARIABLE names gets a line for each, in their order: the event and the network.
"""

from __future__ import annotations

import os

from idp.cli import main
from idp.limits import requester
from idp.passwords import hashing
from idp.passwords.hashing_threads import HashingThreads

NOTES_VARIABLE = "IDP_TEST_HASHES"


class NotedHashes(HashingThreads):
    """Notes what is hashed for whom."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self._notes = os.open(os.environ[NOTES_VARIABLE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def run(self, work, *cost):
        self._note("asked", requester.current())
        return await super().run(work, *cost)

    def close(self) -> None:
        super().close()
        os.close(self._notes)

    def _start(self, task) -> None:
        self._note("began", task.client)
        super()._start(task)

    def _on_done(self, task, done) -> None:
        self._note("ended", task.client)
        super()._on_done(task, done)

    def _note(self, event, client) -> None:
        os.write(self._notes, f"{event} {client.key}\n".encode())


if __name__ == "__main__":
    hashing.HashingThreads = NotedHashes
    main()

"""Notices that a replica set has another primary."""

from __future__ import annotations

from pymongo.monitoring import (
    TopologyClosedEvent,
    TopologyDescriptionChangedEvent,
    TopologyListener,
    TopologyOpenedEvent,
)

from storage.observer import Observer, ThreadReports


class PrimaryListener(TopologyListener):
    """Reports each primary after the first one to an observer, in the event loop of its creation:
    a driver may call it in another thread.
    """

    def __init__(self, observer: Observer) -> None:
        self._reports = ThreadReports(observer)
        self._primary: str | None = None

    def opened(self, event: TopologyOpenedEvent) -> None:
        """Does nothing: no server is known yet."""

    def description_changed(self, event: TopologyDescriptionChangedEvent) -> None:
        """Compares the primary, if there is one now, with the last one."""
        for server in event.new_description.server_descriptions().values():
            if server.server_type_name == "RSPrimary":
                self._set_primary(":".join(map(str, server.address)))

    def closed(self, event: TopologyClosedEvent) -> None:
        """Does nothing: the store was closed."""

    def _set_primary(self, primary: str) -> None:
        before, self._primary = self._primary, primary
        if before not in (None, primary):
            self._reports.send(lambda observer: observer.primary_changed(primary))

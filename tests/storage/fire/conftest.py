"""What the drivers leave behind when a command is given up in the middle of connecting."""

from __future__ import annotations

import gc

import pytest

_LEFT = "ignore:Exception ignored in.*(socket|Transport):pytest.PytestUnraisableExceptionWarning"


def pytest_itemcollected(item: pytest.Item) -> None:
    """PyMongo drops a connection that is cancelled while it is made; the collector finds it."""
    if "mongo" in item.nodeid:
        item.add_marker(pytest.mark.filterwarnings(_LEFT))


@pytest.fixture(autouse=True)
def collected(request):
    """What was left is found in the test that left it, not in a later one."""
    yield
    if "mongo" in request.node.nodeid:
        gc.collect()

"""Stores on MongoDB whose server fails on demand: fixtures."""

from __future__ import annotations

import uuid
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from pymongo import MongoClient

from tests.storage.mongo.mongo_stores import DRIVERS, opened
from tests.support.servers.lossy_proxy import LossyProxy


@pytest.fixture(params=DRIVERS)
def faulty(request, io_loop, mongodb):
    """A store with its fault injector: `faulty.fail(command, times)` closes connections."""
    name = uuid.uuid4().hex
    url = mongodb + ("&" if "?" in mongodb else "?") + f"appName={name}&driver={request.param}"
    store = opened(io_loop, url)
    store.url = url
    with closing(MongoClient(urlsplit(mongodb)._replace(path="/").geturl())) as admin:

        def configure(mode, **data):
            return admin.admin.command("configureFailPoint", "failCommand", mode=mode, **data)

        def fail(*commands, times=1, **fault):
            fault = fault or {"closeConnection": True}
            data = {"failCommands": commands, "appName": name, **fault}
            configure({"times": times}, data=data)

        before = configure("off")["count"]
        store.fail = fail
        # How often it has failed for this store.
        store.heal = lambda: configure("off")["count"] - before
        store.has_ended = lambda: not _running(admin, name)
        yield store
        store.heal()
    io_loop.run_sync(store.close)


def _running(admin, name):
    """The commands of an application that the server is at work on, also those given up."""
    of_its_own = {"appName": name, "active": True, "command.hello": {"$exists": False}}
    return list(admin.admin.aggregate([{"$currentOp": {}}, {"$match": of_its_own}]))


@pytest.fixture(params=DRIVERS)
def lossy(request, io_loop, mongodb):
    """A store behind a proxy that loses answers: `lossy.proxy.lost[command] = how many`."""
    parts = urlsplit(mongodb)
    proxy = LossyProxy(parts.hostname, parts.port)
    running = proxy.running()
    io_loop.run_sync(running.__aenter__)
    query = f"directConnection=true&driver={request.param}"
    address = f"127.0.0.1:{proxy.port}"
    store = opened(io_loop, parts._replace(netloc=address, query=query).geturl())
    store.proxy = proxy
    yield store
    io_loop.run_sync(store.close)
    io_loop.run_sync(lambda: running.__aexit__(None, None, None))

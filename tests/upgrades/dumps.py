"""A stored installation as a file: of SQLite its file, of MongoDB its documents and indexes."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import bson
from pymongo import IndexModel

from tests.support.servers.replica_set import connected


def _database(client, url: str):
    return client[urlsplit(url).path.strip("/")]


def keep_sqlite(file: Path, into: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    into.write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def bring_sqlite(file: Path, into: Path) -> None:
    into.write_bytes(gzip.decompress(file.read_bytes()))


def keep_mongodb(url: str, into: Path) -> None:
    with closing(connected(urlsplit(url)._replace(path="/").geturl())) as client:
        database = _database(client, url)
        kept = [
            {
                "collection": name,
                "indexes": [dict(one) for one in database[name].list_indexes()],
                "documents": list(database[name].find()),
            }
            for name in sorted(database.list_collection_names())
        ]
    into.write_bytes(gzip.compress(b"".join(bson.encode(one) for one in kept), mtime=0))


def _index(described: dict) -> IndexModel:
    options = {k: v for k, v in described.items() if k not in ("v", "key", "ns")}
    return IndexModel(list(described["key"].items()), **options)


def bring_mongodb(file: Path, url: str) -> None:
    with closing(connected(urlsplit(url)._replace(path="/").geturl())) as client:
        database = _database(client, url)
        for one in bson.decode_all(gzip.decompress(file.read_bytes())):
            collection = database.create_collection(one["collection"])
            indexes = [_index(each) for each in one["indexes"] if each["name"] != "_id_"]
            if indexes:
                collection.create_indexes(indexes)
            if one["documents"]:
                collection.insert_many(one["documents"])

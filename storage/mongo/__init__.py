"""The MongoDB back end: replica sets and sharded clusters, through PyMongo or Motor."""

from storage.mongo.store import MongoStore

__all__ = ["MongoStore"]

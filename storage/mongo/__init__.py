"""The MongoDB back end: a replica set, through PyMongo or Motor."""

from storage.mongo.store import MongoStore

__all__ = ["MongoStore"]

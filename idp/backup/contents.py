"""The contents of a backup: a head, every record as a line, and a manifest with their counts.

Lines are JSON. The first is a `Head`, the last a `Manifest`; all others are pairs of a
collection's name and a record, in the order of the collections, then of ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from idp.backup.sealed_files import DamagedBackup, decrypted
from idp.foundation.errors import FailedPrecondition
from idp.foundation.opaque_tokens import Confidential
from idp.records import ALL, SCHEMA, AuditHead
from storage import COUNTERS, Collection, MetaRecord
from storage.filling import CollectionDigest, CollectionDigests, CollectionRecord, encode
from storage.upgrades import opening

T = TypeVar("T")
COLLECTIONS: Final = (*ALL, COUNTERS)


class Head(Confidential, frozen=True, kw_only=True):
    """The first line of a backup: the instant and the program version that made it, the store's
    schema record, and the master key that opens the values which the store has sealed; while that
    is replaced, also the former one."""

    made_at: datetime
    program: str
    schema: MetaRecord
    master_key: str
    old_master_keys: list[str] = []


class Manifest(Struct, frozen=True, kw_only=True):
    """The last line of a backup: for each collection that is not empty, the number of its records
    and their digest."""

    collections: dict[str, CollectionDigest]

    @property
    def total(self) -> int:
        """The number of records in the backup."""
        return sum(each.count for each in self.collections.values())


class NewerBackup(FailedPrecondition):
    """The error that a later version of this program made the backup, and that this version would
    lose some of its data.
    """

    error_code = "backup.newer"


class Line(Struct, frozen=True, array_like=True):
    """A line of a backup with one record and the name of its collection."""

    collection: str
    record: msgspec.Raw


class Backup:
    """A backup that is being read: its head, then its records, then its manifest.

    The constructor and `records` raise WrongPassphrase; DamagedBackup; NewerBackup if a later
    version made it, and TooNew if that version says that this one can't read its records.
    """

    def __init__(self, file: BinaryIO, passphrase: str) -> None:
        self._lines = _lines(decrypted(file, passphrase))
        self.head: Final = _decode(_HEAD, next(self._lines, b""))
        _check_version(self.head)
        self.manifest: Manifest | None = None

    def records(self) -> Iterator[tuple[CollectionRecord, bytes]]:
        """Yields every record, with its collection, and its encoded form.

        At the end `manifest` is set, and DamagedBackup raised if the records differ from it.
        """
        digests = CollectionDigests()
        for line in self._lines:
            # Records are arrays; of the lines after the head only the manifest is an object.
            if line.startswith(b"{"):
                self.manifest = _decode(_MANIFEST, line)
                break
            entry = _decode(_LINE, line)
            collection, decoder = _find_collection(entry.collection)
            encoded = bytes(entry.record)
            digests.add(collection, encoded)
            yield (collection, _decode(decoder, encoded)), encoded
        if self.manifest is None or self.manifest.collections != digests.by_collection():
            raise DamagedBackup("the records of the backup are not those that its manifest lists")
        if next(self._lines, None) is not None:
            raise DamagedBackup("the backup has data after its manifest")


class WholeBackup(NamedTuple):
    """The contents of a backup that was read to its end; `audit_heads` are the heads of the audit
    log's streams at the moment of the backup."""

    head: Head
    manifest: Manifest
    audit_heads: list[AuditHead]


def read_whole(file: BinaryIO, passphrase: str) -> WholeBackup:
    """Reads a whole backup, checks that this program can restore all of it, and returns its
    contents.

    Raises WrongPassphrase, DamagedBackup, NewerBackup, TooNew.
    """
    backup = Backup(file, passphrase)
    audit_heads = []
    for (collection, record), encoded in backup.records():
        if encode(record) != encoded:
            _check_nothing_lost(collection, encoded, encode(record))
        if isinstance(record, AuditHead):
            audit_heads.append(record)
    if backup.manifest is None:
        raise DamagedBackup("the backup has no manifest")
    return WholeBackup(backup.head, backup.manifest, audit_heads)


def head_line(head: Head) -> bytes:
    return msgspec.json.encode(head) + b"\n"


def record_line(collection: Collection[Any], encoded: bytes) -> bytes:
    return msgspec.json.encode(Line(collection.name, msgspec.Raw(encoded))) + b"\n"


def manifest_line(manifest: Manifest) -> bytes:
    return msgspec.json.encode(manifest) + b"\n"


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yields the lines of chunked input, the last of which must end with a line break."""
    pieces: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        for other in others:
            yield b"".join(pieces)
            pieces = [other]
    if any(pieces):
        raise DamagedBackup("the backup ends inside a line")


_HEAD: Final = msgspec.json.Decoder(Head)
_LINE: Final = msgspec.json.Decoder(Line)
_MANIFEST: Final = msgspec.json.Decoder(Manifest)
_BY_NAME: Final = {
    collection.name: (collection, msgspec.json.Decoder(collection.record))
    for collection in COLLECTIONS
}


def _decode(decoder: msgspec.json.Decoder[T], line: bytes) -> T:
    try:
        return decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedBackup(f"a line of the backup can't be read: {error}") from None


def _find_collection(name: str) -> tuple[Collection[Any], msgspec.json.Decoder[Any]]:
    if name not in _BY_NAME:
        raise NewerBackup(f"the backup has {name!r}, which this version does not know")
    return _BY_NAME[name]


def _check_version(head: Head) -> None:
    if head.schema.version > SCHEMA.version:
        raise NewerBackup(
            f"the backup has schema version {head.schema.version}, made by idp {head.program};"
            f" this program has {SCHEMA.version}. Restore it with that version"
        )
    unknown = set(head.schema.done) - {step.name for step in SCHEMA.steps}
    if unknown:
        raise NewerBackup(f"the backup went through {sorted(unknown)}, unknown to this version")
    opening(head.schema, SCHEMA)  # raises TooNew


def _check_nothing_lost(collection: Collection[Any], encoded: bytes, rewritten: bytes) -> None:
    """Raises NewerBackup if this version would drop a field of the record.

    New fields may be added.
    """
    lost_path = next(
        _lost_paths(msgspec.json.decode(encoded), msgspec.json.decode(rewritten)), None
    )
    if lost_path is not None:
        raise NewerBackup(
            f"the backup has {collection.name}.{lost_path}, which this version does not know"
        )


def _lost_paths(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yields the paths that exist in `before` and not in `after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name in after:
                yield from _lost_paths(value, after[name], f"{path}{name}.")
            elif value is not None:
                yield f"{path}{name}"
    elif isinstance(before, list) and isinstance(after, list):
        for value, other in zip(before, after, strict=False):
            yield from _lost_paths(value, other, path)

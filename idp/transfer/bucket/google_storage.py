"""A bucket of Google Cloud Storage, by Google's own library (the extra `gcs`)."""

from __future__ import annotations

import os
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import requests
from google.api_core.exceptions import GoogleAPICallError, RetryError
from google.auth.credentials import AnonymousCredentials
from google.auth.crypt import RSASigner
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport.requests import AuthorizedSession, Request
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse
from google.cloud.storage.retry import DEFAULT_RETRY
from google.oauth2.service_account import Credentials
from google_crc32c import Checksum

from idp.foundation.errors import FieldProblem
from idp.transfer.bucket.errors import ObjectStorageFailed
from idp.transfer.bucket.google_http import (
    SILENT_SECONDS,
    NotCalled,
    TimeLimit,
    guard,
    origin,
    time_limit,
)
from idp.transfer.bucket.location import ObjectLocation, ServiceAccount

TOKEN_URI: Final = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"
CHUNK_BYTES: Final = 8 * 1024 * 1024
_PIECE: Final = 1024 * 1024
_UNREACHABLE: Final = FieldProblem(
    "object_storage.unreachable", "", "object storage can't be used right now"
)
_LATE: Final = FieldProblem("object_storage.timeout", "", "object storage took too long")
_FORBIDDEN: Final = FieldProblem(
    "object_storage.forbidden", "", "the service account may not do this in that bucket"
)
_ABSENT: Final = FieldProblem(
    "object_storage.not_found", "", "there is no such bucket, or no such object in it"
)
_CHANGED: Final = FieldProblem(
    "object_storage.changed", "", "the object was changed while it was read"
)
_EXISTS: Final = FieldProblem(
    "object_storage.exists", "", "there is an object of that name already"
)
_TOO_LARGE: Final = FieldProblem(
    "object_storage.too_large", "", "the object has more octets than a package may have"
)
_SPOILT: Final = FieldProblem("object_storage.checksum", "", "what arrived is not what was stored")
_BY_STATUS: Final = {400: _UNREACHABLE, 401: _FORBIDDEN, 403: _FORBIDDEN, 404: _ABSENT}
_ERRORS: Final = (
    GoogleAPICallError,
    RetryError,
    GoogleAuthError,
    InvalidResponse,
    requests.RequestException,
    ConnectionError,
    ValueError,  # this and the following ones: a response that the library does not expect
    AttributeError,
    KeyError,
    TypeError,
)


@contextmanager
def opened(
    endpoint: str, place: ObjectLocation, seconds: float, leaving: threading.Event
) -> Iterator[GoogleBucket]:
    """Provides the bucket of `place` within the block, by the API at the address `endpoint`, for
    at most `seconds` or until the event `leaving` is set.

    Raises ObjectStorageFailed for every error within the block.
    """
    with time_limit(seconds, leaving) as time:
        try:
            yield GoogleBucket(endpoint, place, seconds, time)
        except ObjectStorageFailed as error:
            raise ObjectStorageFailed(_LATE) if time.is_over else error from None
        except DataCorruption as error:
            raise ObjectStorageFailed(_SPOILT, _cause(error)) from None
        except _ERRORS as error:
            raise ObjectStorageFailed(_problem(error, time), _cause(error)) from None


class GoogleBucket:
    """A bucket of Google Cloud Storage, whose objects can be read and created.

    Its methods also raise errors of the library; `opened`, which provides the bucket, raises
    ObjectStorageFailed in their place.
    """

    def __init__(
        self, endpoint: str, place: ObjectLocation, seconds: float, time: TimeLimit
    ) -> None:
        client = storage.Client(
            credentials=_credentials(endpoint, place.serviceaccount_json),
            project=None,
            _http=_session(endpoint, place.serviceaccount_json, time),
            client_options={"api_endpoint": endpoint},
        )
        # The cache reads the bucket's metadata in a thread of its own.
        client._bucket_metadata_cache = None
        self._bucket = client.bucket(place.bucket)
        retry = DEFAULT_RETRY.with_delay(0.2, 1.0, 2.0).with_timeout(max(seconds, 0))
        self._calls: dict[str, Any] = {"timeout": SILENT_SECONDS, "retry": retry}

    def fetch(self, path: str, into: Path, most: int) -> None:
        """Reads the object `path`, of at most `most` bytes, into the new file `into`, which is
        removed again if reading fails.

        Raises ObjectStorageFailed if the object is larger, changes meanwhile, or arrives damaged.
        """
        blob = self._bucket.blob(path)
        blob.reload(**self._calls)
        if blob.size is None or blob.generation is None or not blob.crc32c:
            raise ObjectStorageFailed(_UNREACHABLE, "an object without size or checksum")
        if blob.size > most:
            # Checked before the download; `_Measured` enforces the size while it is read.
            raise ObjectStorageFailed(_TOO_LARGE)
        descriptor = os.open(into, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                self._read(blob, file)
        except BaseException:
            into.unlink()
            raise

    def _read(self, blob: Any, file: BinaryIO) -> None:
        """Reads exactly this generation.

        The download address of the response is not used but built here.
        """
        measured = _Measured(file, blob.size)
        pinned = self._bucket.blob(blob.name, generation=blob.generation)
        try:
            pinned.download_to_file(
                measured,
                raw_download=True,
                # `_Measured` computes it.
                checksum=None,
                if_generation_match=blob.generation,
                **self._calls,
            )
        except GoogleAPICallError as error:
            # The generation was removed or replaced after `reload`.
            if error.code in (404, 412):
                raise ObjectStorageFailed(_CHANGED, _cause(error)) from None
            raise
        if measured.size != blob.size or measured.crc32c != blob.crc32c:
            raise ObjectStorageFailed(_SPOILT)

    def put(self, path: str, file: Path) -> None:
        """Stores a file as the new object `path`.

        Raises ObjectStorageFailed if there is such an object, or if the size or the checksum of
        the stored object differs.
        """
        size, crc32c = file.stat().st_size, _crc32c(file)
        blob = self._bucket.blob(path, chunk_size=CHUNK_BYTES)
        try:
            with file.open("rb") as source:
                blob.upload_from_file(
                    source,
                    size=size,
                    content_type="application/octet-stream",
                    checksum="crc32c",
                    # Only if no object of this name exists.
                    if_generation_match=0,
                    **self._calls,
                )
        except GoogleAPICallError as error:
            if error.code == 412:
                raise ObjectStorageFailed(_EXISTS, _cause(error)) from None
            raise
        if blob.size != size or blob.crc32c != crc32c:
            raise ObjectStorageFailed(_SPOILT)


class _Measured:
    """A file that accepts at most so many bytes, and computes their checksum."""

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file = file
        self._most = most
        self._checksum = Checksum()
        self.size = 0

    def write(self, piece: bytes) -> int:
        """Writes the next bytes."""
        self.size += len(piece)
        if self.size > self._most:
            raise ObjectStorageFailed(_SPOILT, "more octets than the object has")
        self._checksum.update(piece)
        return self._file.write(piece)

    @property
    def crc32c(self) -> str:
        """The checksum in the form that objects carry."""
        return b64encode(self._checksum.digest()).decode()


def _crc32c(file: Path) -> str:
    checksum = Checksum()
    with file.open("rb") as source:
        while piece := source.read(_PIECE):
            checksum.update(piece)
    return b64encode(checksum.digest()).decode()


def _credentials(endpoint: str, account: ServiceAccount) -> Any:
    """Returns the account's credentials.

    Over plain HTTP, to an emulator on this machine, none are sent.
    """
    if endpoint.startswith("http:"):
        return AnonymousCredentials()
    signer = RSASigner.from_string(account.private_key, account.key_id)
    return Credentials(signer, account.email, TOKEN_URI, scopes=[SCOPE])


def _session(endpoint: str, account: ServiceAccount, time: TimeLimit) -> AuthorizedSession:
    """Returns a session that may only call the endpoint, and Google for its tokens."""
    tokens = requests.Session()
    guard(tokens, frozenset({origin(TOKEN_URI)}), time)
    session = AuthorizedSession(_credentials(endpoint, account), auth_request=Request(tokens))
    guard(session, frozenset({origin(endpoint)}), time)
    return session


def _problem(error: Exception, time: TimeLimit) -> FieldProblem:
    if time.is_over or isinstance(error, RetryError):
        return _LATE
    if isinstance(error, GoogleAuthError) and not isinstance(error, TransportError):
        return _FORBIDDEN
    return _BY_STATUS.get(getattr(error, "code", None) or 0, _UNREACHABLE)


def _cause(error: Exception) -> str:
    """Returns a description for the log, without the library's messages, which may quote requests
    and responses.
    """
    code = getattr(error, "code", None)
    message = str(error) if isinstance(error, NotCalled) else ""
    return " ".join(str(part) for part in (type(error).__name__, code, message) if part)

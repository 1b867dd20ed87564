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
    TIMEOUT_SECONDS,
    RequestBlocked,
    TimeLimit,
    origin,
    restrict,
    time_limit,
)
from idp.transfer.bucket.location import ObjectLocation, ServiceAccount

TOKEN_URI: Final = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"
CHUNK_BYTES: Final = 8 * 1024 * 1024
_CHUNK_BYTES: Final = 1024 * 1024
_UNREACHABLE: Final = FieldProblem(
    "object_storage.unreachable", "", "object storage can't be used right now"
)
_TIMED_OUT: Final = FieldProblem("object_storage.timeout", "", "object storage took too long")
_FORBIDDEN: Final = FieldProblem(
    "object_storage.forbidden", "", "the service account may not do this in that bucket"
)
_NOT_FOUND: Final = FieldProblem(
    "object_storage.not_found", "", "there is no such bucket, or no such object in it"
)
_CHANGED: Final = FieldProblem(
    "object_storage.changed", "", "the object was changed while it was read"
)
_EXISTS: Final = FieldProblem(
    "object_storage.exists", "", "there is an object of that name already"
)
_TOO_LARGE: Final = FieldProblem(
    "object_storage.too_large", "", "the object has more bytes than a package may have"
)
_WRONG_CHECKSUM: Final = FieldProblem(
    "object_storage.checksum", "", "the received object differs from the stored one"
)
_BY_STATUS: Final = {400: _UNREACHABLE, 401: _FORBIDDEN, 403: _FORBIDDEN, 404: _NOT_FOUND}
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
def open_bucket(
    endpoint: str, location: ObjectLocation, seconds: float, aborted: threading.Event
) -> Iterator[GoogleBucket]:
    """Provides the bucket of `location` within the block, by the API at the address `endpoint`,
    for at most `seconds` or until the event `aborted` is set.

    Raises ObjectStorageFailed for every error within the block.
    """
    with time_limit(seconds, aborted) as limit:
        try:
            yield GoogleBucket(endpoint, location, seconds, limit)
        except ObjectStorageFailed as error:
            raise ObjectStorageFailed(_TIMED_OUT) if limit.is_over else error from None
        except DataCorruption as error:
            raise ObjectStorageFailed(_WRONG_CHECKSUM, _cause(error)) from None
        except _ERRORS as error:
            raise ObjectStorageFailed(_problem(error, limit), _cause(error)) from None


class GoogleBucket:
    """A bucket of Google Cloud Storage, whose objects can be read and created.

    Its methods also raise errors of the library; `open_bucket`, which provides the bucket, raises
    ObjectStorageFailed in their place.
    """

    def __init__(
        self, endpoint: str, location: ObjectLocation, seconds: float, limit: TimeLimit
    ) -> None:
        client = storage.Client(
            credentials=_credentials(endpoint, location.serviceaccount_json),
            project=None,
            _http=_session(endpoint, location.serviceaccount_json, limit),
            client_options={"api_endpoint": endpoint},
        )
        # The cache reads the bucket's metadata in a thread of its own.
        client._bucket_metadata_cache = None
        self._bucket = client.bucket(location.bucket)
        retry = DEFAULT_RETRY.with_delay(0.2, 1.0, 2.0).with_timeout(max(seconds, 0))
        self._call_options: dict[str, Any] = {"timeout": TIMEOUT_SECONDS, "retry": retry}

    def fetch(self, path: str, target: Path, max_bytes: int) -> None:
        """Reads the object `path`, of at most `max_bytes` bytes, into the new file `target`, which
        is removed again if reading fails.

        Raises ObjectStorageFailed if the object is larger, changes meanwhile, or arrives damaged.
        """
        blob = self._bucket.blob(path)
        blob.reload(**self._call_options)
        if blob.size is None or blob.generation is None or not blob.crc32c:
            raise ObjectStorageFailed(_UNREACHABLE, "an object without size or checksum")
        if blob.size > max_bytes:
            # Checked before the download; `_LimitedFile` enforces the size while it is read.
            raise ObjectStorageFailed(_TOO_LARGE)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                self._read(blob, file)
        except BaseException:
            target.unlink()
            raise

    def _read(self, blob: Any, file: BinaryIO) -> None:
        """Reads exactly this generation of the object.
        The download address in the response is ignored; it is built here.
        """
        limited_file = _LimitedFile(file, blob.size)
        current_blob = self._bucket.blob(blob.name, generation=blob.generation)
        try:
            current_blob.download_to_file(
                limited_file,
                raw_download=True,
                # `_LimitedFile` computes it.
                checksum=None,
                if_generation_match=blob.generation,
                **self._call_options,
            )
        except GoogleAPICallError as error:
            # The generation was removed or replaced after `reload`.
            if error.code in (404, 412):
                raise ObjectStorageFailed(_CHANGED, _cause(error)) from None
            raise
        if limited_file.size != blob.size or limited_file.crc32c != blob.crc32c:
            raise ObjectStorageFailed(_WRONG_CHECKSUM)

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
                    **self._call_options,
                )
        except GoogleAPICallError as error:
            if error.code == 412:
                raise ObjectStorageFailed(_EXISTS, _cause(error)) from None
            raise
        if blob.size != size or blob.crc32c != crc32c:
            raise ObjectStorageFailed(_WRONG_CHECKSUM)


class _LimitedFile:
    """A file that accepts a limited number of bytes, and computes their checksum."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._checksum = Checksum()
        self.size = 0

    def write(self, chunk: bytes) -> int:
        """Writes the next bytes."""
        self.size += len(chunk)
        if self.size > self._max_bytes:
            raise ObjectStorageFailed(_WRONG_CHECKSUM, "more bytes than the object has")
        self._checksum.update(chunk)
        return self._file.write(chunk)

    @property
    def crc32c(self) -> str:
        """The checksum in the form that objects carry."""
        return b64encode(self._checksum.digest()).decode()


def _crc32c(file: Path) -> str:
    checksum = Checksum()
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            checksum.update(chunk)
    return b64encode(checksum.digest()).decode()


def _credentials(endpoint: str, account: ServiceAccount) -> Any:
    """Returns the account's credentials.

    Over plain HTTP, to an emulator on this machine, none are sent.
    """
    if endpoint.startswith("http:"):
        return AnonymousCredentials()
    signer = RSASigner.from_string(account.private_key, account.key_id)
    return Credentials(signer, account.email, TOKEN_URI, scopes=[SCOPE])


def _session(endpoint: str, account: ServiceAccount, limit: TimeLimit) -> AuthorizedSession:
    """Returns a session that may only call the endpoint, and Google for its tokens."""
    tokens = requests.Session()
    restrict(tokens, frozenset({origin(TOKEN_URI)}), limit)
    session = AuthorizedSession(_credentials(endpoint, account), auth_request=Request(tokens))
    restrict(session, frozenset({origin(endpoint)}), limit)
    return session


def _problem(error: Exception, limit: TimeLimit) -> FieldProblem:
    if limit.is_over or isinstance(error, RetryError):
        return _TIMED_OUT
    if isinstance(error, GoogleAuthError) and not isinstance(error, TransportError):
        return _FORBIDDEN
    return _BY_STATUS.get(getattr(error, "code", None) or 0, _UNREACHABLE)


def _cause(error: Exception) -> str:
    """Returns a description for the log, without the library's messages, which may quote requests
    and responses.
    """
    code = getattr(error, "code", None)
    message = str(error) if isinstance(error, RequestBlocked) else ""
    return " ".join(str(part) for part in (type(error).__name__, code, message) if part)

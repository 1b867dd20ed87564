"""A client of object storage, by the library obstore (the extra `object-storage`).

The library reads variables of the environment, fetches credentials where it is given none, and
follows redirects. Here every setting that decides on the server, the credentials and the signature
is given; and whatever is not for the server of the call goes to a proxy that does not exist.
"""

from __future__ import annotations

import asyncio
import mmap
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec
import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    UnauthenticatedError,
)
from obstore.store import AzureStore, GCSStore, S3Store

from idp.config import loading as config_loading
from idp.foundation.errors import FieldProblem
from idp.transfer.bucket.errors import (
    EXISTS,
    FORBIDDEN,
    NOT_FOUND,
    TOO_LARGE,
    UNREACHABLE,
    ObjectStorageFailed,
)
from idp.transfer.bucket.location import AzureLocation, GcsLocation, Location, S3Location

ObjectStore: TypeAlias = S3Store | GCSStore | AzureStore

_NO_PROXY_IS_THERE: Final = "http://127.0.0.1:0"
_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 20
_CHUNK_BYTES: Final = 4 * 1024 * 1024
_PAGE_BYTES: Final = 1024 * 1024
_RETRIES: Final = {
    "max_retries": 3,
    "backoff": {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=2)},
}
_STATUS: Final = re.compile(r"status code: ([0-9]{3})")
_PROBLEMS: Final[dict[type, FieldProblem]] = {
    AlreadyExistsError: EXISTS,
    FileNotFoundError: NOT_FOUND,
    PermissionDeniedError: FORBIDDEN,
    UnauthenticatedError: FORBIDDEN,
}
# Variables that the library would obey, and that no setting overrides.
_HARMFUL: Final = ("AWS_SSE_", "AWS_SERVER_SIDE_", "AWS_CHECKSUM_", "AZURE_ENCRYPTION_", "GOOGLE_")


class StorageClient:
    """A client of one server, whose methods raise ObjectStorageFailed."""

    def __init__(self, server: str) -> None:
        self._server = server

    async def fetch(
        self, location: Location, file: BinaryIO, seconds: float, max_bytes: int
    ) -> None:
        """Writes an object of up to `max_bytes` bytes into a file; each request takes at most
        `seconds`.
        """
        with _failures():
            store = self._store(location, seconds, is_upload=False)
            result = await obstore.get_async(store, location.path)
            if result.meta["size"] > max_bytes:
                raise ObjectStorageFailed(TOO_LARGE)
            stream = aiter(result.stream(_CHUNK_BYTES))
        while (chunk := await _next(stream)) is not None:
            await asyncio.to_thread(file.write, chunk)
        if file.tell() != result.meta["size"]:
            raise ObjectStorageFailed(UNREACHABLE, "the object is not as long as was told")

    async def put(self, location: Location, file: Path, seconds: float) -> None:
        """Creates an object of the content of a file, which must not be empty; each request takes
        at most `seconds`.
        """
        with _failures():
            store = self._store(location, seconds, is_upload=True)
            # In one request: only that can be conditional. The pages are read as they are sent.
            await obstore.put_async(store, location.path, _pages(file), mode="create")

    def _store(self, location: Location, seconds: float, *, is_upload: bool) -> ObjectStore:
        """Returns the library's client of a bucket."""
        if names := config_loading.environment_names(_HARMFUL):
            cause = f"the environment must not have {names[0]}"
            raise ObjectStorageFailed(UNREACHABLE, cause)
        options = {
            "client_options": _client_options(self._server, seconds, is_upload=is_upload),
            "retry_config": _RETRIES | {"retry_timeout": timedelta(seconds=seconds)},
        }
        return _STORES[type(location)](location, self._server, options)


async def _next(stream: AsyncIterator[bytes]) -> bytes | None:
    with _failures():
        return await anext(stream, None)


def _pages(file: Path) -> Iterator[memoryview]:
    """Yields parts of a file that are read from the disk when they are used."""
    with file.open("rb") as opened:
        view = memoryview(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ))
    for start in range(0, len(view), _PAGE_BYTES):
        yield view[start : start + _PAGE_BYTES]


@contextmanager
def _failures() -> Iterator[None]:
    """Raises the library's errors as ObjectStorageFailed, with nothing of their messages but the
    status: they quote requests and answers.
    """
    try:
        yield
    except (BaseError, FileNotFoundError, ValueError) as error:
        name, status = type(error).__name__, _STATUS.search(str(error))
        cause = f"{name} {status[1]}" if status else name
        raise ObjectStorageFailed(_PROBLEMS.get(type(error), UNREACHABLE), cause) from None


def _client_options(server: str, seconds: float, *, is_upload: bool) -> dict[str, Any]:
    parts = urlsplit(server)
    options: dict[str, Any] = {
        "allow_http": parts.scheme == "http",
        "allow_invalid_certificates": False,
        "connect_timeout": timedelta(seconds=min(_CONNECT_SECONDS, seconds)),
        "timeout": timedelta(seconds=seconds),
        "proxy_url": _NO_PROXY_IS_THERE,
        "proxy_excludes": parts.hostname,
    }
    if not is_upload:  # it would count from the beginning of an upload to its answer
        options["read_timeout"] = timedelta(seconds=min(_READ_SECONDS, seconds))
    return options


def _s3(location: S3Location, server: str, options: dict[str, Any]) -> ObjectStore:
    credential = {
        "access_key_id": location.access_key_id,
        "secret_access_key": location.secret_access_key.value,
        "token": None,
        "expires_at": None,
    }
    config = {
        "bucket": location.bucket,
        "endpoint": server,
        "aws_endpoint_url_s3": server,
        "region": location.region,
        "default_region": location.region,
        "conditional_put": "etag",
        # The server compares the checksum of what it has received with the signed one.
        "unsigned_payload": False,
        "skip_signature": False,
        "virtual_hosted_style_request": False,
        "s3_express": False,
        "request_payer": False,
    }
    return S3Store(config=config, credential_provider=lambda: credential, **options)


def _gcs(location: GcsLocation, server: str, options: dict[str, Any]) -> ObjectStore:
    """Returns a client that signs its tokens itself; over plain HTTP, to an emulator on this
    machine, it sends none.
    """
    account, is_plain = location.serviceaccount_json, server.startswith("http:")
    key = {
        "client_email": account.email,
        "private_key_id": account.key_id,
        "private_key": account.private_key,
        "gcs_base_url": server,
        "disable_oauth": is_plain,
    }
    config = {
        "bucket": location.bucket,
        "base_url": server,
        "service_account_key": msgspec.json.encode(key).decode(),
        "skip_signature": is_plain,
    }
    return GCSStore(config=config, **options)


def _azure(location: AzureLocation, server: str, options: dict[str, Any]) -> ObjectStore:
    """Returns a client of an account whose name the host begins with, or else, as emulators have
    it, the path.
    """
    key, token = location.access_key, location.sas_token
    credential = {"access_key": key.value} if key else {"sas_token": token.value if token else ""}
    is_of_account = urlsplit(server).netloc.startswith(f"{location.account}.")
    config = {
        "account_name": location.account,
        "container_name": location.container,
        "endpoint": server if is_of_account else f"{server}/{location.account}",
        "credential_type": "auto",
        "skip_signature": False,
        "use_azure_cli": False,
        "use_emulator": False,
        "use_fabric_endpoint": False,
    }
    provider = lambda: credential | {"expires_at": None}  # noqa: E731
    return AzureStore(config=config, credential_provider=provider, **options)


_STORES: Final[dict[type, Callable[[Any, str, dict[str, Any]], ObjectStore]]] = {
    S3Location: _s3,
    GcsLocation: _gcs,
    AzureLocation: _azure,
}

"""POST /assets/v1/…: uploads of logos and icons as files, at the paths that clients of Zitadel
use.

Each corresponds to the operation of the management API that takes the picture in base64.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from tornado.web import HTTPError

from handlers.api import ApiHandler
from handlers.http import multipart
from idp.api import OPERATIONS
from idp.api.operation import Operation
from idp.oauth.errors import InvalidRequest
from idp.policies.images import MAX_BYTES
from idp.policies.pictures import PICTURE_LIMITS

_FORM_OVERHEAD_BYTES: Final = 8 * 1024  # of the form's parts around the file
_PATH: Final = "/assets/v1/{}/policy/label/{}"
_OWNERS: Final = {"org": "management", "instance": "admin"}


class AssetHandler(ApiHandler):
    """Receives one picture: as the whole body, or as the only file of a multipart form."""

    picture: str

    def initialize(self, operations: dict[str, Operation], picture: str) -> None:  # type: ignore[override]
        super().initialize(operations)
        self.picture = picture

    @property
    def max_body_bytes(self) -> int:
        return MAX_BYTES + _FORM_OVERHEAD_BYTES

    def document(self) -> object:
        """Returns the operation's request document, with the uploaded file in base64. Raises
        HTTPError 400, 413, 415."""
        return {"content": base64.b64encode(self._file()).decode()}

    def _file(self) -> bytes:
        content_type = self.request.headers.get("Content-Type", "")
        if not multipart.is_multipart(content_type):
            if not content_type.lower().startswith("image/"):
                raise HTTPError(415, f"the content type must be an image's, or {multipart.TYPE}")
            return self.body
        try:
            files = multipart.parse(content_type, self.body).files
        except InvalidRequest as error:
            raise HTTPError(400, error.description) from error
        if len(files) != 1:
            raise HTTPError(400, "the form must have one file")
        return next(iter(files.values()))

    def _path_values(self, values: tuple[str, ...]) -> list[str]:
        return [self.picture]


def _routes() -> list[tuple[str, Any, dict[str, Any]]]:
    put_operations = {
        operation.path: operation for operation in OPERATIONS if operation.method == "PUT"
    }
    return [
        (
            _PATH.format(owner, picture.replace("_", "/")),
            AssetHandler,
            {
                "operations": {"POST": put_operations[f"/{api}/v1/policies/label/{{picture}}"]},
                "picture": picture,
            },
        )
        for owner, api in _OWNERS.items()
        for picture in PICTURE_LIMITS
    ]


ROUTES: Final = _routes()

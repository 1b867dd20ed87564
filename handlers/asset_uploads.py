"""POST /assets/v1/…: uploads of logos and icons as files, at the paths that clients of the
reference system use.

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
from idp.policies.pictures import BOXES

_ROOM: Final = 8 * 1024  # for the parts of a form around the file
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
        return MAX_BYTES + _ROOM

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
    calls = {each.path: each for each in OPERATIONS if each.method == "PUT"}
    return [
        (
            _PATH.format(owner, place.replace("_", "/")),
            AssetHandler,
            {
                "operations": {"POST": calls[f"/{base}/v1/policies/label/{{picture}}"]},
                "picture": place,
            },
        )
        for owner, base in _OWNERS.items()
        for place in BOXES
    ]


ROUTES: Final = _routes()

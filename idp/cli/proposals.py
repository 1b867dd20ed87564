"""A default of new applications that only the service knows: the users who may use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from idp import api
from idp.api.operation import Operation
from idp.cli.backends import Backend
from idp.cli.document import Document
from idp.management.projects.oidc_request import NewOidcApp
from idp.schema import reading

_FIELD: Final = "allowedUsers"


async def with_allowed_users(
    backend: Backend, operation: Operation, values: Sequence[str], document: Any
) -> Any:
    """Returns the body `document` of an operation. If the operation registers an OpenID Connect
    application and the body does not state who may use it, the returned body also has
    `allowedUsers` with the value that the service proposes.

    `values` are those of the path parameters. Raises InvalidArgument with all problems of the
    body, and the errors of `backend.call`.
    """
    if (
        operation is not api.applications.CREATE_OIDC
        or not isinstance(document, dict)
        or _FIELD in document
    ):
        return document
    reading.read(NewOidcApp, document)
    checked: Document = await backend.call(api.applications.CHECK_OIDC, values, document)
    return document | {_FIELD: checked["proposedAllowedUsers"]}

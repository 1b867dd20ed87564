"""Refusals of requests that are malformed or too large, before a handler receives them."""

from __future__ import annotations

from http import HTTPStatus


class Refused(Exception):
    """The request can't be read or is too large; the connection ends with a response.

    `cause` is text for the log and the error page. If the request line could be read, `method` and
    `target` are from it, and the handler of that address may answer; otherwise both are empty.
    """

    def __init__(self, status: HTTPStatus, cause: str) -> None:
        super().__init__(cause)
        self.status = status
        self.cause = cause
        self.method = self.target = ""

    @property
    def response(self) -> bytes:
        """The response if no handler answers, without a body; it ends with the connection."""
        return f"HTTP/1.1 {self.status.value} {self.status.phrase}\r\n\r\n".encode()


def malformed(cause: str) -> Refused:
    """Returns the refusal of a malformed request."""
    return Refused(HTTPStatus.BAD_REQUEST, cause)

"""The responses by which a sign-in ends without tokens, or at a page of the service."""

from __future__ import annotations

from idp.oauth.endpoints import authorization_response, authorization_result
from idp.oauth.endpoints.authorization_response import AuthorizationResponse
from idp.oauth.errors import AccessDenied, OAuthError
from idp.oauth.sign_in import device_decision, pending
from idp.oauth.sign_in.pending import PendingSignIn
from idp.records import AuthRequest
from idp.service import Service


async def complete(
    service: Service, flow: PendingSignIn, response: AuthorizationResponse
) -> AuthorizationResponse:
    """Stores that the flow is finished, and returns its response."""
    writes = pending.completion_writes(service, flow, response)
    await pending.commit(service, flow, *writes)
    return response


async def cancel(service: Service, flow: PendingSignIn) -> AuthorizationResponse:
    """Ends the flow because the user cancelled it. Returns the error response to the client."""
    return await end(service, flow, AccessDenied("the user cancelled the sign-in"))


async def deny(service: Service, flow: PendingSignIn) -> AuthorizationResponse:
    """Ends the flow because the user denied consent. Returns the error response to the client."""
    return await end(service, flow, AccessDenied("the user denied the request"))


async def fail(service: Service, flow: PendingSignIn, error: OAuthError) -> AuthorizationResponse:
    """Returns the error response. Where nothing is stored of the flow, nothing is stored for its
    end: the same request is refused in the same way again."""
    if flow.is_stored or flow.request.pushed_id is not None:
        return await end(service, flow, error)
    return failure(service, flow.request, error)


async def end(service: Service, flow: PendingSignIn, error: OAuthError) -> AuthorizationResponse:
    """Finishes the flow with an error, and returns the error response."""
    request = flow.request
    if request.device_id is not None:
        return await device_decision.deny(service, request)
    if request.is_for_own_page:
        address = request.redirect_uri if request.adding else service.config.issuer
        return await complete(service, flow, AuthorizationResponse(address))
    return await complete(service, flow, failure(service, request, error))


def failure(service: Service, request: AuthRequest, error: OAuthError) -> AuthorizationResponse:
    """Returns the error response to the client of this request."""
    return authorization_response.failure(
        service.config, authorization_result.return_to(request), error
    )

"""/ui/login/consent: asks whether a third party's application may have what it requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from handlers.login.accounts import account_of
from handlers.login.flow import ADDRESSES, LOGIN, FlowHandler
from handlers.pages import redirect_reply
from idp.config.settings import Config
from idp.foundation.i18n import Message, message
from idp.identity.sessions.lifetime import LiveSession
from idp.oauth import reserved_scopes
from idp.oauth.params import Params
from idp.oauth.reserved_scopes import Reserved
from idp.oauth.sign_in import consents
from idp.oauth.sign_in import flow as sign_in_flow
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import Flow
from idp.oauth.tokens import claims_request, standard_claims
from idp.records import AuthRequest

_IN_WORDS: Final = {
    "openid": message("to recognize you", context="consent"),
    "profile": message("your name and the rest of your profile", context="consent"),
    "email": message("your email address", context="consent"),
    "phone": message("your phone number", context="consent"),
    "address": message("your postal address", context="consent"),
    "offline_access": message("all this also while you are not using it", context="consent"),
}
_THIS_SERVICE: Final = message("to act for you at this service itself", context="consent")
_ROLES: Final = message("your roles", context="consent")
_ORGANIZATION: Final = message("which organization you belong to", context="consent")
_RESERVED_IN_WORDS: Final = {
    Reserved.ROLE: _ROLES,
    Reserved.ROLES: _ROLES,
    Reserved.ROLES_OF: _ROLES,
    Reserved.ORGANIZATION: _ORGANIZATION,
    Reserved.DOMAIN: _ORGANIZATION,
    Reserved.RESOURCE_OWNER: _ORGANIZATION,
    Reserved.METADATA: message("what else is noted about you here", context="consent"),
    Reserved.AUDIENCE: message("to act for you at other services", context="consent"),
}


class ConsentHandler(FlowHandler):
    """Asks for consent to what an application requests; `asks` is the page of the sign-in that
    does so. If the user denies it, the application gets the error access_denied."""

    asks: ClassVar[SignInPage] = SignInPage.CONSENT

    async def show(self, flow: Flow) -> None:
        self._ask(flow, await self._whose(flow))

    async def submit(self, flow: Flow, form: Params) -> None:
        live = await self._whose(flow)
        decision = form.get("decision")
        if form.get("account") != live.session.id:  # the page was shown to another user
            self.redirect_303(self.at(LOGIN, flow))
        elif decision == "allow":
            await self.allow(flow, live)
        elif decision == "deny":
            redirect_reply.send(self, await sign_in_flow.deny(self.service, flow))
        else:
            self._ask(flow, live, status=400)

    async def allow(self, flow: Flow, live: LiveSession) -> None:
        """Stores the consent of the session's user (`live`) and redirects to the next step of the
        sign-in."""
        await consents.allow(self.service, flow, live)
        self.redirect_303(self.at(LOGIN, flow))

    async def _whose(self, flow: Flow) -> LiveSession:
        """Returns the session whose consent is requested. Raises ResponseSent if another step is
        due."""
        step = await self.current_step(flow)
        if step.live is None:
            self.redirect_instead(self.at(LOGIN, flow))
        return step.live

    def _ask(self, flow: Flow, live: LiveSession, *, status: int = 200) -> None:
        token = self.form_token(flow.request.id, flow.browser)
        self.step(
            self.asks,
            flow,
            status=status,
            # The answer must come from the account that the page showed.
            hidden=[*token, ("account", live.session.id)],
            # Denying has a button of its own.
            cancellable=False,
            account=account_of(live),
            scopes=_requested(self.service.config, flow.request),
            back_url=self.at(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        )


def _requested(config: Config, request: AuthRequest) -> list[Message | str]:
    """Returns the requested scopes, then those of the individually requested claims."""
    beyond = {standard_claims.scope_of(name) for name in claims_request.beyond_scopes(request)}
    return in_words(
        config, [*request.scopes, *(each for each in standard_claims.ALL if each in beyond)]
    )


def in_words(config: Config, scopes: Iterable[str]) -> list[Message | str]:
    """Returns descriptions of what the scopes allow; a scope without a description is listed by
    its name."""
    descriptions: list[Message | str] = []
    for scope in scopes:
        words = _words(config, scope) or scope
        if words not in descriptions:
            descriptions.append(words)
    return descriptions


def _words(config: Config, scope: str) -> Message | None:
    if scope == reserved_scopes.service_audience(config):
        return _THIS_SERVICE
    kinds = reserved_scopes.read(config, [scope])
    return next((_RESERVED_IN_WORDS[kind] for kind in kinds), _IN_WORDS.get(scope))


ROUTES = [(ADDRESSES[SignInPage.CONSENT], ConsentHandler)]

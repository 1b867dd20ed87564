"""/ui/login/consent: asks for consent to what a third party's application requests."""

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
from idp.oauth.sign_in import consents, responses
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.tokens import claims_request, standard_claims
from idp.records import AuthRequest

_OFFLINE: Final = message("Keep this access when you're not using it", context="consent")
_DESCRIPTIONS: Final = {
    "openid": message("Recognize you", context="consent"),
    "profile": message("See your name and profile", context="consent"),
    "email": message("See your email address", context="consent"),
    "phone": message("See your phone number", context="consent"),
    "address": message("See your postal address", context="consent"),
    "groups": message("See the names of your groups", context="consent"),
    "offline_access": _OFFLINE,
}
_THIS_SERVICE: Final = message("Act for you in this service", context="consent")
_ROLES: Final = message("See your roles", context="consent")
_ORGANIZATION: Final = message("See which organization you belong to", context="consent")
_METADATA: Final = message("See other information stored about you here", context="consent")
_AUDIENCE: Final = message("Act for you in other services", context="consent")
_RESERVED_DESCRIPTIONS: Final = {
    Reserved.ROLE: _ROLES,
    Reserved.ROLES: _ROLES,
    Reserved.ROLES_OF: _ROLES,
    Reserved.ORGANIZATION: _ORGANIZATION,
    Reserved.DOMAIN: _ORGANIZATION,
    Reserved.RESOURCE_OWNER: _ORGANIZATION,
    Reserved.METADATA: _METADATA,
    Reserved.AUDIENCE: _AUDIENCE,
}


_ICONS: Final = (
    ("user", (_DESCRIPTIONS["openid"], _DESCRIPTIONS["profile"])),
    ("mail", (_DESCRIPTIONS["email"],)),
    ("users", (_DESCRIPTIONS["groups"],)),
    ("phone", (_DESCRIPTIONS["phone"],)),
    ("building-2", (_DESCRIPTIONS["address"], _ORGANIZATION)),
    ("clock", (_OFFLINE,)),
    ("key-round", (_THIS_SERVICE, _AUDIENCE)),
    ("shield-check", (_ROLES,)),
    ("info", (_METADATA,)),
)


class ConsentHandler(FlowHandler):
    """Asks for consent to what an application requests; `page_of_step` is the page of the sign-in
    that does so. If the user denies it, the application gets the error access_denied."""

    page_of_step: ClassVar[SignInPage] = SignInPage.CONSENT

    async def show(self, flow: PendingSignIn) -> None:
        self._ask(flow, await self._find_session(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        live_session = await self._find_session(flow)
        decision = form.get("decision")
        if form.get("account") != live_session.session.id:  # the page was shown to another user
            self.redirect_303(self.url_of(LOGIN, flow))
        elif decision == "allow":
            await self.allow(flow, live_session)
        elif decision == "deny":
            redirect_reply.send(self, await responses.deny(self.service, flow))
        else:
            self._ask(flow, live_session, status=400)

    async def allow(self, flow: PendingSignIn, live_session: LiveSession) -> None:
        """Stores the consent of the session's user (`live_session`) and redirects to the next step
        of the sign-in."""
        await consents.allow(self.service, flow, live_session)
        self.redirect_303(self.url_of(LOGIN, flow))

    async def _find_session(self, flow: PendingSignIn) -> LiveSession:
        """Returns the session whose consent is requested. Raises ResponseSent if another step is
        due."""
        step = await self.current_step(flow)
        if step.live_session is None:
            self.redirect_instead(self.url_of(LOGIN, flow))
        return step.live_session

    def _ask(self, flow: PendingSignIn, live_session: LiveSession, *, status: int = 200) -> None:
        token = self.form_token(flow.request.id, flow.browser)
        self.step(
            self.page_of_step,
            flow,
            status=status,
            # Only the account that the page displayed can consent.
            hidden=[*token, ("account", live_session.session.id)],
            # Denying has a button of its own.
            cancellable=False,
            account=account_of(live_session),
            scopes=[
                {"text": text, "icon": _icon_of(text)}
                for text in _requested(self.service.config, flow.request)
            ],
            back_url=self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow),
        )


def _requested(config: Config, request: AuthRequest) -> list[Message | str]:
    """Returns the requested scopes, then those of the individually requested claims."""
    further_scopes = {
        standard_claims.scope_of(name) for name in claims_request.beyond_scopes(request)
    }
    return scope_descriptions(
        config,
        [*request.scopes, *(scope for scope in standard_claims.ALL if scope in further_scopes)],
    )


def scope_descriptions(config: Config, scopes: Iterable[str]) -> list[Message | str]:
    """Returns descriptions of what the scopes allow, offline access last; a scope without a
    description is listed by its name."""
    descriptions: list[Message | str] = []
    for scope in scopes:
        description = _description(config, scope) or scope
        if description not in descriptions:
            descriptions.append(description)
    return sorted(descriptions, key=lambda description: description == _OFFLINE)


def _icon_of(description: Message | str) -> str:
    return next((icon for icon, texts in _ICONS if description in texts), "check")


def _description(config: Config, scope: str) -> Message | None:
    if scope == reserved_scopes.service_audience(config):
        return _THIS_SERVICE
    kinds = reserved_scopes.read(config, [scope])
    return next((_RESERVED_DESCRIPTIONS[kind] for kind in kinds), _DESCRIPTIONS.get(scope))


ROUTES = [(ADDRESSES[SignInPage.CONSENT], ConsentHandler)]

"""/ui/login/register: a person registers, for the application that started the sign-in."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from handlers.http.base import ResponseSent
from handlers.login import providers
from handlers.login.flow import ADDRESSES, FlowHandler
from handlers.login.new_password import policy_of
from idp.foundation import uris
from idp.foundation.i18n import Message, message
from idp.identity.users import registration
from idp.identity.users.registration import NOTHING, ClosedReason, FormValues, RegistrationProblem
from idp.limits.throttled import Throttled
from idp.oauth.params import Params
from idp.oauth.sign_in import registration as sign_in_registration
from idp.oauth.sign_in import registration_organization
from idp.oauth.sign_in.next_step import SignInPage
from idp.oauth.sign_in.pending import PendingSignIn
from idp.oauth.sign_in.registration import RegistrationState
from idp.records import Organization

_CLOSED: Final[dict[ClosedReason, Message]] = {
    "disabled": message(
        "Only administrators can create accounts here. Ask an administrator or your help"
        " desk for one.",
        context="register",
    ),
    "no_mail": message(
        "This service can't send email yet, so it can't verify yours. Ask an administrator"
        " or your help desk for an account.",
        context="register",
    ),
}


def state_of(handler: FlowHandler, flow: PendingSignIn) -> RegistrationState:
    """Returns the values of this request that the functions of the registration take: its origin
    for rate limits, and the texts and links of the messages."""
    issuer, query = handler.service.config.issuer, handler.mail_query(flow)
    return RegistrationState(
        origin=handler.origin_of(flow),
        bundle=handler.bundle(),
        verify_url=issuer + uris.with_parameters(ADDRESSES[SignInPage.VERIFY_EMAIL], query),
        sign_in_url=issuer + uris.with_parameters(ADDRESSES[SignInPage.LOGIN_NAME], query),
    )


class RegisterHandler(FlowHandler):
    """The form that registers an account. Its response does not reveal whether an address is
    taken."""

    async def show(self, flow: PendingSignIn) -> None:
        await self._find_organization(flow)
        await self._ask(flow, await self._initial_values(flow))

    async def submit(self, flow: PendingSignIn, form: Params) -> None:
        organization = await self._find_organization(flow)
        submitted = _submitted(form)
        normalized, problems = await registration.read(
            self.service, organization, submitted, flow.client.name
        )
        if problems:
            await self._ask(flow, submitted, status=400, problems=problem_values(problems))
            return
        try:
            await sign_in_registration.begin(
                self.service,
                flow,
                organization,
                normalized,
                state_of(self, flow),
            )
        except Throttled as error:
            await self._ask(flow, submitted, status=429, retry_seconds=self.set_retry_after(error))
        else:
            self.redirect_303(self.url_of(ADDRESSES[SignInPage.VERIFY_EMAIL], flow))

    async def _find_organization(self, flow: PendingSignIn) -> Organization:
        """Returns the account's organization. Raises ResponseSent if none is chosen or
        registration is closed."""
        organization = await registration_organization.find(self.service, flow)
        if (
            organization is None
            and len(await registration_organization.selectable(self.service, flow)) > 1
        ):
            self.redirect_instead(self.url_of(ADDRESSES[SignInPage.ORGANIZATION], flow))
        org_id = organization.id if organization else flow.client.org_id
        closed = await registration.closed_reason(self.service, org_id)
        if closed is None and organization is not None:
            return organization
        status = 400 if self.request.method == "POST" else 200
        await self._ask(flow, NOTHING, status=status, closed=_CLOSED[closed or "disabled"])
        raise ResponseSent

    async def _initial_values(self, flow: PendingSignIn) -> FormValues:
        """Returns the form's initial values: those of a pending registration, or an e-mail address
        that was entered before."""
        pending = await sign_in_registration.find(self.service, flow)
        if pending is not None:
            return registration.form_values(self.service, pending.sealed)
        name = flow.request.login_name or flow.request.login_hint or ""
        return structs.replace(NOTHING, email=name if "@" in name else "")

    async def _ask(
        self, flow: PendingSignIn, submitted: FormValues, *, status: int = 200, **values: object
    ) -> None:
        organization = await registration_organization.find(self.service, flow)
        policy = await policy_of(
            self.service, organization.id if organization else flow.client.org_id
        )
        provider_buttons = await providers.buttons(self, flow)
        page_values = {
            "closed": None,
            "policy": policy,
            "entered": submitted,
            "providers": provider_buttons,
        }
        links = {"login_url": self.url_of(ADDRESSES[SignInPage.LOGIN_NAME], flow)}
        self.step(SignInPage.REGISTER, flow, status=status, **(page_values | links | values))


def _submitted(form: Params) -> FormValues:
    return FormValues(
        given_name=form.get("givenName") or "",
        family_name=form.get("familyName") or "",
        email=form.get("email") or "",
        user_name=form.get("userName") or "",
        password=form.get("newPassword") or "",
    )


def problem_values(problems: list[RegistrationProblem]) -> list[dict[str, object]]:
    """Returns the template values of a registration's problems: for each its field and its
    text."""
    return [{"field": problem.field, "text": problem.text} for problem in problems]


ROUTES = [(ADDRESSES[SignInPage.REGISTER], RegisterHandler)]

"""Requests that a page answers early: by a redirect to where the person has to go first, or by a
page that says why the requested one cannot be displayed.

Each function returns one after its preparations.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from idp.records import (
    DOMAINS,
    REGISTRATIONS,
    USERS,
    VERIFICATIONS,
    LoginRules,
    new_domain,
)
from storage import Delete, Insert, Update
from tests.handlers.login.form_pages import FORMS
from tests.support.management import console
from tests.support.protocol.claiming import add_organization
from tests.support.sign_in import passkeys
from tests.support.sign_in.account import ACCOUNT, enter
from tests.support.sign_in.factors import set_policy
from tests.support.sign_in.registering import at_code, at_register
from tests.support.sign_in.resetting import at_reset_code, give_address
from tests.support.sign_in.steps import at_change, at_password
from tests.support.store import stored

LOGIN = "/ui/login"


class Sent(NamedTuple):
    """A request: a GET, or with a form a POST."""

    url: str
    form: dict | None = None
    headers: dict | None = None


def sent_to(page, path, **fields):
    """The form of a page, sent to another page of the same sign-in."""
    return Sent(re.sub(r"/ui/[\w/-]+", path, page.url), {**page.hidden, **fields})


def opened_at(page, path):
    return Sent(re.sub(r"/ui/[\w/-]+", path, page.url))


async def first_page(place):
    return await place.visitor.open(place.party.authorize_url())


async def no_flow(place):
    return Sent(f"{LOGIN}/name?flow=unknown")


async def other_browsers_flow(place):
    page = await first_page(place)
    place.visitor.cookies.clear()
    return Sent(page.url)


async def finished_flow(place):
    page = await at_password(place.visitor, place.party, place.server.user[0])
    await place.visitor.submit(page, password=place.server.user[1])
    return Sent(page.url)


async def expired_form(place):
    page = await at_password(place.visitor, place.party, place.server.user[0])
    place.server.clock.advance(3601)
    return Sent(page.url, {**page.hidden, "password": "x"})


async def unbound_flow(place):
    headers = {"Origin": "https://client.example", "Sec-Fetch-Site": "cross-site"}
    answer = await place.visitor.post(
        "/oauth/v2/authorize", place.party.authorize_form(), headers=headers
    )
    return Sent(answer.location)


async def no_restart_link(place):
    page = await first_page(place)
    return Sent(re.sub(r"&start=[^&]*", "", page.url))


async def other_language(place):
    page = await first_page(place)
    return Sent(page.url + "&lang=de")


async def other_language_of_stored_flow(place):
    page = await at_password(place.visitor, place.party, place.server.user[0])
    return Sent(page.url + "&lang=de")


async def flow_that_is_answered(place):
    page = await first_page(place)
    await place.sign_in()
    return opened_at(page, LOGIN)


async def flow_that_is_answered_at_the_chooser(place):
    page = await first_page(place)
    await place.sign_in()
    return opened_at(page, f"{LOGIN}/accounts")


async def other_passkey_step(place):
    page, _ = await FORMS["factor, app"](place)
    return opened_at(page, f"{LOGIN}/passkey")


async def passkey_that_fits(place):
    page, fields = await FORMS["passkey"](place)
    return Sent(page.url, {**page.hidden, **fields})


async def passkey_at_first_page(place):
    await place.sign_in()
    device, _ = await passkeys.enrol(place.visitor, place.server)
    place.visitor.cookies.clear()
    page = await first_page(place)
    answer = device.get(passkeys.options_of(page))
    return Sent(page.url, {**page.hidden, "passkey": answer})


async def new_passkey(place):
    page, fields = await FORMS["passkey, new"](place)
    return Sent(page.url, {**page.hidden, **fields})


async def recovery_code_that_does_not_fit(place):
    page, _ = await FORMS["consent"](place)
    return opened_at(page, f"{LOGIN}/recovery-code")


async def reset_that_has_expired(place):
    await give_address(place.server)
    page = await at_reset_code(place.visitor, place.party)
    reset = await stored.only(place.server.store, VERIFICATIONS)
    await place.server.store.commit(Delete(VERIFICATIONS, reset.id))
    return Sent(page.url)


async def without_registration(place):
    page = await at_code(place.visitor, place.party)
    registration = await stored.only(place.server.store, REGISTRATIONS)
    await place.server.store.commit(Delete(REGISTRATIONS, registration.id))
    return page


async def registration_that_is_gone(place):
    return Sent((await without_registration(place)).url)


async def registration_form_that_is_gone(place):
    page = await without_registration(place)
    return Sent(page.url, {**page.hidden, "code": "12345678"})


async def unverified_name(place):
    page = await at_code(place.visitor, place.party)
    return opened_at(page, f"{LOGIN}/user-name")


async def unverified_name_form(place):
    page = await at_code(place.visitor, place.party)
    return sent_to(page, f"{LOGIN}/user-name", userName="nora")


async def verified_code(place):
    page, _ = await FORMS["user name"](place)
    return opened_at(page, f"{LOGIN}/verify-email")


async def register_where_it_is_closed(place):
    page = await at_register(place.visitor, place.party)
    await set_policy(place.server, "login", LoginRules(allow_register=False))
    return Sent(page.url)


async def register_form_where_it_is_closed(place):
    page = await at_register(place.visitor, place.party)
    await set_policy(place.server, "login", LoginRules(allow_register=False))
    return Sent(page.url, {**page.hidden, "email": "nora@example.org"})


async def register_in_one_of_two(place):
    other = await add_organization(place.server, "Acme")
    now = place.server.clock.now()
    domain = new_domain(other.id, other.primary_domain, now, is_verified=True)
    await place.server.store.commit(Insert(DOMAINS, domain))
    page = await place.visitor.open(
        place.party.authorize_url(prompt="create", login_hint="nora@acme.example")
    )
    return opened_at(page, f"{LOGIN}/register")


async def consent_by_nobody(place):
    page = await first_page(place)
    return opened_at(page, f"{LOGIN}/consent")


async def factor_before_the_password_is_changed(place):
    page = await at_change(place.visitor, place.party, place.server.start.admin)
    return opened_at(page, f"{LOGIN}/totp")


async def logout_that_is_unknown(place):
    return Sent("/ui/logout?request=unknown")


async def logout_form_that_has_expired(place):
    page, fields = await FORMS["logout"](place)
    place.server.clock.advance(3601)
    return Sent(page.url, {**page.hidden, **fields})


async def account_of_nobody(place):
    return Sent(f"{ACCOUNT}/profile")


async def account_form_of_nobody(place):
    return Sent(f"{ACCOUNT}/profile/edit", {"profile.givenName": "Dina"})


async def two_accounts(place):
    await place.sign_in()
    minnie = await place.server.copy_user("minnie")
    page = await at_password(place.visitor, place.party, minnie[0], prompt="select_account")
    await place.visitor.submit(page, password=minnie[1])
    place.server.clock.advance(1)
    return list((await stored.everything(place.server.store))["sessions"])


async def account_of_two(place):
    await two_accounts(place)
    return Sent(f"{ACCOUNT}/profile")


async def account_that_is_chosen(place):
    first, _ = await two_accounts(place)
    return Sent(f"{ACCOUNT}/profile?session={first}&a=b")


async def account_that_another_site_chooses(place):
    first, _ = await two_accounts(place)
    return Sent(f"{ACCOUNT}/profile?session={first}", headers={"Sec-Fetch-Site": "cross-site"})


async def sensitive_page(place):
    await enter(place.server, place.visitor)
    place.server.clock.advance(601)
    return Sent(f"{ACCOUNT}/email")


async def sensitive_form(place):
    page = await enter(place.server, place.visitor, "/email")
    place.server.clock.advance(601)
    return Sent(page.url, {**page.hidden, "email": "dana@new.example"})


async def first_password(place):
    await enter(place.server, place.visitor)
    found = await place.server.store.find(USERS, {"login_key": "demo"})
    await place.server.store.commit(Update(USERS, found.records[0].id, set={"password": None}))
    place.server.clock.advance(601)
    return Sent(f"{ACCOUNT}/password")


async def first_password_form(place):
    page = await enter(place.server, place.visitor, "/password")
    await first_password(place)
    return Sent(page.url, {**page.hidden, "newPassword": "a slow train to the sea"})


async def throttled_password(place):
    page = await enter(place.server, place.visitor, "/password")
    fields = {"currentPassword": "wrong", "newPassword": "a slow train to the sea"}
    for _ in range(40):
        answer = await place.visitor.send(page, **fields)
        if answer.status == 429:
            break
    return Sent(page.url, {**page.hidden, **fields})


async def console_of_a_user(place):
    await enter(place.server, place.visitor)
    return Sent("/ui/console/users")


async def console_form_of_a_user(place):
    await enter(place.server, place.visitor)
    return Sent("/ui/console/users/new", {})


async def console_of_nobody(place):
    return Sent("/ui/console/users")


async def installation_page(place):
    await console.admin(place.server, place.visitor)
    place.server.clock.advance(3601)
    return Sent("/ui/console/policies/installation/pictures/logo")

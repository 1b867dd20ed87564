"""Policies of a package: stored as far as the service can, with a word on all that it can't."""

from __future__ import annotations

import pytest

from idp.management.policies.policy_kinds import KINDS as POLICIES
from idp.policies import effective
from idp.transfer.kinds import KINDS
from tests.support.store.audit import events_agree
from tests.support.store.stored import everything
from tests.support.transfer.bringing import brought, exported_org

ORG = {"orgId": "acme", "org": {"name": "Acme"}}
# As the reference system writes them: what is false, empty or 0 is left out.
FOREIGN = {
    "loginPolicy": {
        "allowUsernamePassword": True,
        "allowExternalIdp": True,
        "forceMfa": True,
        "passwordlessType": "PASSWORDLESS_TYPE_ALLOWED",
        "defaultRedirectUri": "http://plain.example",
        "passwordCheckLifetime": "864000s",
        "externalLoginCheckLifetime": "864000s",
        "mfaInitSkipLifetime": "2592000s",
        "secondFactorCheckLifetime": "64800s",
        "multiFactorCheckLifetime": "0s",
        "secondFactors": ["SECOND_FACTOR_TYPE_OTP", "SECOND_FACTOR_TYPE_OTP_SMS"],
        "allowDomainDiscovery": True,
    },
    "passwordComplexityPolicy": {"minLength": "6", "hasNumber": True},
    "lockoutPolicy": {"maxPasswordAttempts": "1000"},
    "labelPolicy": {
        "primaryColor": "#5469d4",
        "backgroundColor": "#fff",
        "warnColorDark": "#FF3B5B",
        "backgroundColorDark": "#ff3b5b",
        "disableWatermark": True,
        "font": "serif",
        "layout": "sideways",
        "radius": 25,
    },
    "privacyPolicy": {
        "tosLink": "https://acme.example/{{.Lang}}/tos",
        "privacyLink": "http://acme.example",
        "supportEmail": "nobody",
    },
}


async def effects(server, kind):
    own, _ = await effective.find(server.service, "acme", kind)
    return own.rules


async def test_what_another_system_has_otherwise_is_left_out_and_the_rest_is_stored(server):
    outcomes = await brought(server, ORG | FOREIGN)

    assert [each.action for each in outcomes] == ["create"] * 6
    login = await effects(server, "login")
    assert login.force_mfa
    assert (login.second_factors, login.multi_factors) == (("otp",), ())
    assert not login.allow_register
    assert login.allow_passwordless
    assert login.allow_external_idp
    assert login.external_login_check_seconds == 864000
    assert login.default_redirect_uri == ""
    assert (login.offer_factor_seconds, login.multi_factor_check_seconds) == (2592000, 43200)
    assert (await effects(server, "password_complexity")).min_length == 8
    assert (await effects(server, "password_complexity")).has_number
    assert (await effects(server, "lockout")).max_password_attempts == 100
    label = await effects(server, "label")
    assert (label.primary_color, label.background_color) == ("#5469d4", "")
    assert (label.font, label.layout, label.radius) == ("serif", "card", 24)
    assert label.disable_watermark
    privacy = await effects(server, "privacy")
    assert (privacy.tos_link, privacy.privacy_link, privacy.support_email) == (
        "https://acme.example/{{.Lang}}/tos",
        "",
        "",
    )
    await events_agree(server.store)


async def test_each_thing_that_is_left_out_is_named(server):
    _, login, complexity, lockout, label, privacy = await brought(server, ORG | FOREIGN)

    assert named(login) == {
        ("secondFactors[1]", "field.unknown_name"),
        ("multiFactorCheckLifetime", "field.out_of_range"),
        ("defaultRedirectUri", "link.invalid"),
        ("allowDomainDiscovery", "field.unknown"),
    }
    assert named(complexity) == {("minLength", "field.out_of_range")}
    assert named(lockout) == {("maxPasswordAttempts", "field.out_of_range")}
    assert named(label) == {
        ("backgroundColor", "colour.invalid"),
        ("layout", "field.unknown_name"),
        ("radius", "field.out_of_range"),
    }
    assert named(privacy) == {("privacyLink", "link.invalid"), ("supportEmail", "email.invalid")}


def named(prepared):
    assert not any(each.is_error for each in prepared.problems)
    assert all(each.fix for each in prepared.problems if each.error_code != "field.unknown")
    return {(each.field, each.error_code) for each in prepared.problems}


async def test_a_second_factor_that_is_forced_stays_forced_where_there_is_none_of_its_kind(server):
    policy = {"forceMfa": True, "secondFactors": ["SECOND_FACTOR_TYPE_OTP_EMAIL"]}
    (_, made) = await brought(server, ORG | {"loginPolicy": policy})

    login = await effects(server, "login")
    assert login.force_mfa
    assert login.second_factors == ("otp", "u2f")
    assert ("secondFactors", "login_policy.no_factor") in named(made)


async def test_lists_of_factors_beside_an_older_policy_are_added_to_it(server):
    lists = {
        "loginPolicy": {},
        "secondFactors": [
            {"type": "SECOND_FACTOR_TYPE_OTP"},
            {"type": "SECOND_FACTOR_TYPE_U2F"},
            {"type": "SECOND_FACTOR_TYPE_OTP_SMS"},
        ],
        "multiFactors": [{"type": "MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION"}],
    }
    outcomes = await brought(server, ORG | lists)

    login = await effects(server, "login")
    assert (login.second_factors, login.multi_factors) == (("otp", "u2f"), ("u2f",))
    assert [each.action for each in outcomes[2:]] == ["update", "update", "skip", "update"]
    assert [each.error_code for each in outcomes[4].problems] == ["field.unknown_name"]
    await events_agree(server.store)
    before = await everything(server.store)
    await brought(server, ORG | lists, job="second")
    assert await everything(server.store) == before


async def test_factors_are_not_added_to_a_policy_that_was_there(server):
    await brought(server, ORG | {"loginPolicy": {}})
    more = {"secondFactors": [{"type": "SECOND_FACTOR_TYPE_OTP"}]}

    (_, left) = await brought(server, ORG | more, job="second")
    assert left.action == "skip"
    assert (await effects(server, "login")).second_factors == ()

    (_, added) = await brought(server, ORG | more, job="third", updates=True)
    assert added.action == "update"
    assert (await effects(server, "login")).second_factors == ("otp",)


async def test_factors_without_a_policy_are_added_to_nothing(server):
    more = {"secondFactors": [{"type": "SECOND_FACTOR_TYPE_OTP"}]}
    (_, left) = await brought(server, ORG | more)

    assert [each.error_code for each in left.problems] == ["policy.not_found"]


@pytest.mark.parametrize(
    ("member", "kind"), [(each.member, each) for each in KINDS if each.member.endswith("Policy")]
)
async def test_a_policy_that_is_there_changes_only_with_update(server, member, kind):
    if kind.plan is None:
        return
    await brought(server, ORG | {member: {}})
    change = {
        "loginPolicy": {"allowRegister": True},
        "passwordComplexityPolicy": {"hasSymbol": True},
        "passwordAgePolicy": {"maxAgeDays": 9},
        "lockoutPolicy": {"maxOtpAttempts": 5},
        "labelPolicy": {"disableWatermark": True},
        "privacyPolicy": {"helpLink": "https://help.example"},
        "languagePolicy": {"defaultLanguage": "de"},
    }[member]
    before = await everything(server.store)

    (_, left) = await brought(server, ORG | {member: change}, job="second")
    assert left.action == "skip"
    assert await everything(server.store) == before

    (_, changed) = await brought(server, ORG | {member: change}, job="third", updates=True)
    assert changed.action == "update"
    before = await everything(server.store)
    (_, same) = await brought(server, ORG | {member: change}, job="fourth", updates=True)
    assert same.action == "skip"
    assert await everything(server.store) == before
    await events_agree(server.store)


@pytest.mark.parametrize(
    ("member", "policy", "error_code", "field"),
    [
        ("loginPolicy", "all", "field.wrong_type", ""),
        ("loginPolicy", {"forceMfa": "yes"}, "field.wrong_type", "forceMfa"),
        ("loginPolicy", {"secondFactors": {}}, "field.wrong_type", "secondFactors"),
        ("loginPolicy", {"secondFactors": [[]]}, "field.wrong_type", "secondFactors[0]"),
        ("loginPolicy", {"force_mfa": True, "forceMfa": True}, "field.duplicate", "forceMfa"),
        ("passwordComplexityPolicy", {"minLength": {}}, "field.wrong_type", "minLength"),
        ("lockoutPolicy", {"maxPasswordAttempts": 1.5}, "field.wrong_type", "maxPasswordAttempts"),
        ("labelPolicy", {"primaryColor": 5}, "field.wrong_type", "primaryColor"),
        (
            "languagePolicy",
            {"allowedLanguages": ["en"] * 101},
            "field.too_many",
            "allowedLanguages",
        ),
    ],
)
async def test_what_no_system_means_refuses_the_policy(server, member, policy, error_code, field):
    (_, failed) = await brought(server, ORG | {member: policy})

    assert failed.action == "fail"
    assert [(each.error_code, each.field) for each in failed.problems] == [(error_code, field)]


@pytest.mark.parametrize("member", ["domainPolicy", "iamPolicy", "actions", "projectGrantMembers"])
async def test_what_there_is_nothing_of_is_named(server, member):
    value = {"userLoginMustBeDomain": True}
    (_, left) = await brought(server, ORG | {member: value if "Policy" in member else [value]})

    assert left.action == "skip"
    assert left.problems[0].message


async def test_no_policy_is_stored_for_an_organization_that_is_not_there(server):
    (failed,) = await brought(server, {"orgId": "nobody", "loginPolicy": {}})

    assert [each.error_code for each in failed.problems] == ["organization.not_found"]


async def test_every_kind_of_policy_is_exported_and_imported(server):
    assert {each.form for each in POLICIES.values()} <= {each.request for each in KINDS}
    members = [each.member for each in KINDS if each.plan and each.member.endswith("Policy")]
    org = ORG | {member: {} for member in members}
    await brought(server, org)

    told = await exported_org(server, "acme")
    assert set(members) <= set(told)
    again = await brought(server, told, updates=True, job="second")
    assert {each.action for each in again} == {"skip"}
    assert not any(each.problems for each in again)

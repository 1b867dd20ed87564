"""Whatever an installation can hold, another one takes, and tells the same again."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from idp.foundation import i18n
from idp.policies import page_texts
from idp.policies.pictures import PICTURE_LIMITS
from idp.transfer.kinds import KINDS
from tests.idp.transfer.calls.test_export_document import (
    HASH,
    encoded,
    exported,
    organization,
    whole,
)
from tests.idp.transfer.possessions import FLAG, LINE, possessions, some
from tests.support import patience, pictures
from tests.support.service import start_server, stop_server
from tests.support.store.audit import events_agree
from tests.support.transfer.bringing import brought

NUMBERS = itertools.count()
WORDS = LINE.filter(lambda text: "{{" not in text and "}}" not in text)
TAG = st.sampled_from(i18n.available())
COLOUR = st.sampled_from(["", "#000000", "#ffffff", "#7a1f3d", "#2B4FC7", "#fff", "red"])
LINK = st.sampled_from(
    ["", "https://a.example/{{.Lang}}", "http://a.example", "https://ü.example"]
)
SECONDS = st.integers(0, 10**9).map(lambda n: f"{n}s")
FACTORS = [f"SECOND_FACTOR_TYPE_{name}" for name in ("OTP", "U2F", "OTP_SMS")]
MULTI = ["MULTI_FACTOR_TYPE_U2F_WITH_VERIFICATION"]
PLAIN = [key for key in page_texts.built_in("en") if "%" not in key[1]]
PHOTO, DRAWING = pictures.encoded("JPEG", size=(500, 200)), pictures.encoded("PNG")


def by_language(member, rows):
    return st.dictionaries(TAG, rows, max_size=3).map(
        lambda found: [{"language": tag} | row for tag, row in found.items()]
    )


LETTERS = some(subject=WORDS, title=WORDS, greeting=WORDS, text=WORDS, buttonText=WORDS)
SCREENS = st.dictionaries(
    st.sampled_from(PLAIN), LINE.map(lambda t: t.replace("%", "")), max_size=4
)
POLICIES = {
    "loginPolicy": some(
        allowRegister=FLAG,
        hidePasswordReset=FLAG,
        lockProfile=FLAG,
        forceMfa=FLAG,
        forceMfaLocalOnly=FLAG,
        secondFactors=st.lists(st.sampled_from(FACTORS), unique=True, max_size=2),
        multiFactors=st.lists(st.sampled_from(MULTI), max_size=1),
        passwordlessType=st.sampled_from(
            ["PASSWORDLESS_TYPE_ALLOWED", "PASSWORDLESS_TYPE_NOT_ALLOWED"]
        ),
        passwordCheckLifetime=SECONDS,
        secondFactorCheckLifetime=SECONDS,
        multiFactorCheckLifetime=SECONDS,
        mfaInitSkipLifetime=SECONDS,
        defaultRedirectUri=LINK,
    ),
    "passwordComplexityPolicy": some(
        minLength=st.integers(0, 300),
        hasLowercase=FLAG,
        hasNumber=FLAG,
        hasSymbol=FLAG,
        minLengthWithFactor=st.integers(0, 300),
        minStrength=st.integers(-1, 5),
    ),
    "passwordAgePolicy": some(maxAgeDays=st.integers(0, 5000), expireWarnDays=st.integers(0, 9)),
    "lockoutPolicy": some(
        maxPasswordAttempts=st.integers(0, 200),
        maxOtpAttempts=st.integers(0, 200),
        lockoutSeconds=st.integers(0, 90_000),
    ),
    "labelPolicy": some(
        primaryColor=COLOUR,
        backgroundColor=COLOUR,
        fontColorDark=COLOUR,
        warnColorDark=COLOUR,
        backgroundColorDark=COLOUR,
        disableWatermark=FLAG,
        radius=st.integers(0, 30),
        layout=st.sampled_from(["card", "split", "plain", "other"]),
        font=st.sampled_from(["system", "serif", "rounded", "mono"]),
    ),
    "privacyPolicy": some(
        tosLink=LINK,
        privacyLink=LINK,
        helpLink=LINK,
        supportEmail=st.sampled_from(["", "a@b.example", "no"]),
    ),
    "languagePolicy": some(defaultLanguage=TAG, allowedLanguages=st.lists(TAG, max_size=4)),
}
LISTS = {
    "loginTexts": by_language(
        "loginTexts",
        SCREENS.map(
            lambda found: {
                "texts": [
                    {"screen": screen, "key": key, "text": text or "-"}
                    for (screen, key), text in found.items()
                ]
            }
        ),
    ),
    "passwordResetMessages": by_language("passwordResetMessages", LETTERS),
    "verifyEmailMessages": by_language("verifyEmailMessages", LETTERS),
    "pictures": st.dictionaries(
        st.sampled_from(list(PICTURE_LIMITS)), st.sampled_from([PHOTO, DRAWING]), max_size=4
    ).map(
        lambda found: [{"place": place, "content": encoded(file)} for place, file in found.items()]
    ),
}
PEOPLE = st.lists(st.tuples(LINE, LINE, FLAG, FLAG, FLAG), max_size=3)


@st.composite
def organizations(draw):
    """An organization with some of everything, beside which any other of them can stand."""
    n = next(NUMBERS)
    state = draw(st.sampled_from(["ORG_STATE_ACTIVE", "ORG_STATE_INACTIVE"]))
    domains = draw(st.lists(FLAG, max_size=3))
    people = [_person(n, i, *values) for i, values in enumerate(draw(PEOPLE))]
    return {
        "orgId": f"org|{n}",
        "org": {"name": f"{draw(LINE)} {n}", "primaryDomain": f"o{n}.example", "state": state},
        "domains": [
            {"domainName": f"d{i}.o{n}.example", "isVerified": is_verified, "isPrimary": not i}
            if is_verified
            else {"domainName": f"d{i}.o{n}.example"}
            for i, is_verified in enumerate(domains)
        ],
        **draw(some(**POLICIES, **LISTS)),
        "humanUsers": people,
        **draw(possessions(n, [each["userId"] for each in people])),
    }


def _person(n, i, first, last, is_verified, has_password, has_code):
    user = {
        "userName": f"user-{n}-{i}",
        "profile": {"firstName": first, "lastName": last},
        "email": {"email": f"u{i}@o{n}.example", "isEmailVerified": is_verified},
    }
    user |= {"hashedPassword": {"value": HASH}} if has_password else {}
    user |= {"otpCode": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"} if has_code else {}
    return {"userId": f"user|{n}|{i}", "user": user}


@pytest.fixture
def other(io_loop, server):
    """Another installation."""
    made, http = io_loop.run_sync(lambda: start_server(server.clock))
    yield made
    io_loop.run_sync(lambda: stop_server(made, http))


async def moves(server, other, package):
    """Into one installation, out of it, into the other, and out of that."""
    outcomes = await brought(server, package, job=package["orgId"])
    assert not [each for each in outcomes if each.action == "fail"], outcomes
    first = await whole(server, package["orgId"])
    outcomes = await brought(other, *first, job=package["orgId"])
    assert not [each for each in outcomes if each.action == "fail" or each.problems], outcomes
    second = await whole(other, package["orgId"])
    assert json.dumps(second, sort_keys=True) == json.dumps(first, sort_keys=True)


def generated(number):
    """A test of so many organizations."""
    wish = examples(
        max_examples=number,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return lambda test: wish(given(organizations())(test))


@pytest.mark.promise("export: custom policies")
@pytest.mark.full
@pytest.mark.parametrize("number", [25, pytest.param(1000, marks=pytest.mark.load)])
def test_an_organization_is_the_same_after_a_move(io_loop, server, other, number):
    @generated(number)
    def move(package):
        io_loop.run_sync(lambda: moves(server, other, package), timeout=patience.SECONDS)

    move()
    io_loop.run_sync(lambda: events_agree(other.store))


@pytest.fixture
def stations(io_loop, server, tmp_path, mongodb):
    """Installations on a store of one kind, of the other, and of the first again."""
    urls = [f"sqlite:///{tmp_path}/1.sqlite3", mongodb, f"sqlite:///{tmp_path}/3.sqlite3"]
    running = [
        io_loop.run_sync(lambda url=url: start_server(server.clock, store=url)) for url in urls
    ]
    yield [made for made, _ in running]
    for each in running:
        io_loop.run_sync(lambda each=each: stop_server(*each))


async def travels(stations, package):
    """Into the first installation, and by what each tells into the next one."""
    orgs, told = [package], []
    for each in stations:
        outcomes = await brought(each, *orgs, job=package["orgId"])
        assert not [one for one in outcomes if one.action == "fail"], outcomes
        assert not told or not [one for one in outcomes if one.problems], outcomes
        orgs = await whole(each, package["orgId"])
        told.append(json.dumps(orgs, sort_keys=True))
    assert len(set(told)) == 1


@pytest.mark.promise("export: custom policies")
@pytest.mark.parametrize("number", [3, pytest.param(200, marks=pytest.mark.load)])
def test_an_organization_is_the_same_in_the_other_store_and_back(io_loop, stations, number):
    @generated(number)
    def travel(package):
        io_loop.run_sync(lambda: travels(stations, package), timeout=patience.SECONDS)

    travel()
    for each in stations:
        io_loop.run_sync(lambda each=each: events_agree(each.store))


async def test_every_list_that_is_exported_is_also_imported(server):
    assert {each.member for each in KINDS if each.export} <= {
        each.member for each in KINDS if each.plan
    }


async def test_all_organizations_move_at_once(server, other):
    await brought(server, organization("a"), organization("b"))
    everything = await exported(server, with_passwords=True, with_otp=True)
    own = next(each for each in everything["orgs"] if each["org"]["name"] == "Default")
    moving = [each for each in everything["orgs"] if each is not own]

    await brought(other, *moving)

    again = await exported(other, with_passwords=True, with_otp=True)
    assert [each for each in again["orgs"] if each["org"]["name"] != "Default"] == moving

"""What is still due of somebody who has proven something: `next_action` as a table."""

from __future__ import annotations

import itertools

import pytest

from idp.identity.authentication_context import CLASSES, PASSKEY, PASSWORD, TWO_FACTORS, meets
from idp.identity.factors.second_factors import PASSKEY as KEY
from idp.identity.factors.second_factors import TOTP
from idp.oauth.sign_in.required_actions import ActionKind, RequiredAction, Situation, next_action

APP, KEYS, BOTH = frozenset({TOTP}), frozenset({KEY}), frozenset({TOTP, KEY})
DONE = None

# sentence: (where the person stands, what is due)
CASES = {
    "a password is enough": ({"reached": PASSWORD}, DONE),
    "who has an app is asked for it": (
        {"reached": PASSWORD, "factors": APP},
        RequiredAction(ActionKind.FACTOR, APP),
    ),
    "who has several may choose": (
        {"reached": PASSWORD, "factors": BOTH},
        RequiredAction(ActionKind.FACTOR, BOTH),
    ),
    "of several, those count that are wanted": (
        {"reached": PASSWORD, "factors": BOTH, "required": PASSKEY},
        RequiredAction(ActionKind.FACTOR, KEYS),
    ),
    "a wish is asked for where it can be met": (
        {"reached": TWO_FACTORS, "factors": BOTH, "requested": PASSKEY},
        RequiredAction(ActionKind.FACTOR, KEYS),
    ),
    "a wish that can't be met is none": (
        {"reached": TWO_FACTORS, "factors": APP, "requested": PASSKEY},
        DONE,
    ),
    "the present factor comes before another is set up": (
        {"reached": PASSWORD, "factors": APP, "required": PASSKEY, "addable": BOTH},
        RequiredAction(ActionKind.FACTOR, APP),
    ),
    "then the one that is required is set up": (
        {"reached": TWO_FACTORS, "factors": APP, "required": PASSKEY, "addable": BOTH},
        RequiredAction(ActionKind.ENROL, KEYS),
    ),
    "the factor comes before a new password": (
        {"reached": PASSWORD, "factors": APP, "needs_password": True},
        RequiredAction(ActionKind.FACTOR, APP),
    ),
    "a new password comes before a factor is set up": (
        {"reached": PASSWORD, "required": TWO_FACTORS, "addable": APP, "needs_password": True},
        RequiredAction(ActionKind.PASSWORD),
    ),
    "whoever must, sets a factor up": (
        {"reached": PASSWORD, "required": TWO_FACTORS, "addable": BOTH},
        RequiredAction(ActionKind.ENROL, BOTH),
    ),
    "where nothing can be set up, nobody gets in": (
        {"reached": PASSWORD, "required": TWO_FACTORS},
        RequiredAction(ActionKind.NOT_POSSIBLE),
    ),
    "codes are kept before anything else is offered": (
        {"reached": TWO_FACTORS, "factors": APP, "has_unconfirmed_codes": True, "is_adding": True},
        RequiredAction(ActionKind.CONFIRM_CODES),
    ),
    "what the person wants comes before what they must": (
        {"reached": PASSWORD, "required": TWO_FACTORS, "addable": BOTH, "is_adding": True},
        RequiredAction(ActionKind.ADD),
    ),
    "who has no factor is offered one": (
        {"reached": PASSWORD, "addable": APP, "offers": True},
        RequiredAction(ActionKind.OFFER, APP),
    ),
    "who has one is offered none": (
        {"reached": TWO_FACTORS, "factors": APP, "addable": BOTH, "offers": True},
        DONE,
    ),
    "a passkey is enough for everything": (
        {"reached": PASSKEY, "factors": BOTH, "required": TWO_FACTORS},
        DONE,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_required_actions_follow_from_the_progress_of_the_sign_in(case):
    stands, wanted = CASES[case]

    assert next_action(Situation(**stands)) == wanted


def situations():
    sets = (frozenset(), APP, KEYS, BOTH)
    for reached, required, requested in itertools.product(CLASSES, CLASSES, CLASSES):
        for factors, addable in itertools.product(sets, sets):
            for flags in itertools.product((False, True), repeat=4):
                names = ("needs_password", "has_unconfirmed_codes", "is_adding", "offers")
                yield Situation(
                    reached=reached,
                    required=required,
                    requested=requested,
                    factors=factors,
                    addable=addable,
                    **dict(zip(names, flags, strict=True)),
                )


def test_nobody_gets_in_with_less_than_they_have_or_is_demanded():
    for about in situations():
        found = next_action(about)

        if found is None:
            assert meets(about.reached, about.required), about
            assert not about.factors or meets(about.reached, TWO_FACTORS), about
            assert not about.needs_password, about


def test_nothing_of_an_account_is_changed_before_its_factor_was_given():
    for about in situations():
        if about.factors and not meets(about.reached, TWO_FACTORS):
            assert next_action(about).kind is ActionKind.FACTOR, about


def test_what_is_asked_for_is_there():
    for about in situations():
        found = next_action(about)

        if found is not None and found.kind is ActionKind.FACTOR:
            assert found.factors, about
            assert found.factors <= about.factors, about
        if found is not None and found.kind in (ActionKind.ENROL, ActionKind.OFFER):
            assert found.factors, about
            assert found.factors <= about.addable, about

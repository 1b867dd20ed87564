"""Mutants of the device flow."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

GRANT = "idp/oauth/grants/device_code.py"
FLOW = "idp/oauth/sign_in/device.py"
OF_POLLS = "tests/handlers/protocol/test_device_polls.py"
OF_FLOW = "tests/handlers/protocol/test_device_flow.py"
RACES = "tests/flows/test_devices.py"
REFUSED = "tests/handlers/protocol/test_device_refused.py"

MUTANTS = [
    Mutant(
        "a device code by its id",
        GRANT,
        "or not opaque_tokens.matches(parts[1], device_request.secret_hash)",
        "",
        f"{OF_POLLS} -k nobody_has",
    ),
    Mutant(
        "anybody's device code",
        GRANT,
        'refuse_foreign(request, device_request, "device code")',
        "pass",
        f"{OF_POLLS} -k another_client",
    ),
    Mutant(
        "a device code that is used again",
        GRANT,
        'redeemed_at = {"redeemed_at": device_request.redeemed_at}',
        "redeemed_at: dict[str, Any] = {}",
        f"{RACES} -k 'many_polls and sqlite'",
    ),
    Mutant(
        "a device code that was used is told of as one that is used at the moment",
        GRANT,
        "if redeemed_at is not None and redeemed_at != device_request.unanswered_at:",
        "if False:",
        "tests/handlers/protocol/test_explained_mistakes.py -k 'gave and tokens'",
    ),
    Mutant(
        "a device code lasts for ever",
        GRANT,
        "if device_request.ends_at <= now:",
        "if False:",
        f"{OF_POLLS} -k expires",
    ),
    Mutant(
        "a device is not told that it was denied",
        GRANT,
        "if device_request.decided_at is not None and not device_request.is_allowed:",
        "if False:",
        f"{OF_FLOW} -k refuse_at_every_step",
    ),
    Mutant(
        "a device may poll as it likes",
        GRANT,
        "        if is_early:",
        "        if False:",
        f"{OF_POLLS} -k too_soon",
    ),
    Mutant(
        "a device that polls too soon waits no longer",
        GRANT,
        "(INTERVAL_SECONDS if is_early else 0)",
        "0",
        f"{OF_POLLS} -k too_soon",
    ),
    Mutant(
        "a device outlives the session that let it in",
        GRANT,
        "if authorized.session is None:",
        "if False:",
        f"{OF_POLLS} -k logout",
    ),
    Mutant(
        "a user code counts in every browser",
        FLOW,
        'expect={"flow_id": None}',
        "expect={}",
        f"{RACES} -k 'many_browsers and sqlite'",
    ),
    Mutant(
        "a user code lasts for ever",
        FLOW,
        "if request.ends_at <= now:",
        "if False:",
        f"{REFUSED} -k expired",
    ),
    Mutant(
        "guesses of user codes cost nothing",
        FLOW,
        "        admitted.append(counted)\n",
        "        await login_name_backoffs.uncount(service, counted)\n",
        f"{REFUSED} -k guesses",
    ),
    Mutant(
        "a device is let in by whoever is signed in",
        "idp/oauth/sign_in/admission.py",
        "return ShowPage(SignInPage.DEVICE_CONFIRM, live_session=live_session)",
        "return Continue(live_session)",
        f"{OF_FLOW} -k is_only_asked",
    ),
    Mutant(
        "every application has the device flow",
        "idp/oauth/grants/device_authorization.py",
        "if GRANT_TYPE not in client.grant_types:",
        "if False:",
        f"{REFUSED} -k without_the_grant",
    ),
]

"""The promises of docs/explanation/security.md, each sentence with the tests that show it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "security.md"
GUESSES = "handlers/login/guesses/"
RESETS = "handlers/login/resets/test_reset_guesses.py"
NETWORKS = f"{GUESSES}test_guess_networks.py"
LIMITER = f"{GUESSES}test_guess_limiter.py"
LAST = f"{GUESSES}test_last_way_in.py"
TOKENS = "handlers/protocol/tokens/"
MANAGEMENT = "handlers/management/"
OUTGOING = "idp/outgoing/test_http.py"

# The beginning of each sentence, and the tests that show what it says.
SHOWN_BY = {
    "Attempts are counted before": [
        (LIMITER, "of_many_wrong_passwords_at_once_at_most_six_are_compared"),
    ],
    "From the sixth at one login name": [
        (f"{GUESSES}test_throttle.py", "after_six_mistakes_the_right_password_has_to_wait"),
        (
            f"{GUESSES}test_throttle.py",
            "delays_tell_neither_which_names_exist_nor_which_belong_together",
        ),
        (
            f"{GUESSES}test_throttle.py",
            "wrong_passwords_count_in_one_streak_under_every_login_name",
        ),
        (LIMITER, "the_limit_is_shared_five_to_four"),
        (LIMITER, "a_closed_account_answers_a_right_password_as_a_wrong_one"),
        (LIMITER, "a_known_browser_has_ten_tries_and_all_of_them_forty"),
    ],
    "The owner still gets in": [
        (LIMITER, "a_closed_account_is_open_to_a_known_browser"),
        (LIMITER, "a_finished_mail_reset_opens_it"),
        (LIMITER, "a_password_of_an_administrator_opens_it"),
    ],
    "Wrong codes for a new password": [
        (RESETS, "wrong_codes_are_counted_for_the_account_over_all_resets_and_networks"),
    ],
    "After 50 in a row codes": [
        (RESETS, "after_fifty_wrong_codes_a_right_one_is_answered_as_a_wrong_one"),
        (RESETS, "the_link_in_the_mail_works_when_codes_are_closed_and_opens_them_again"),
        (RESETS, "at_the_fiftieth_wrong_code_the_owner_gets_one_mail"),
        (RESETS, "a_browser_that_another_account_knows_is_an_unknown_one"),
    ],
    "A code is valid only if": [(RESETS, "where_no_mail_was_sent_no_code_is_right")],
    "Codes that verify an email address": [
        (
            "handlers/login/registration/test_contact_guesses.py",
            "two_accounts_share_the_count_of_one_address_for_a_day",
        ),
        (
            "handlers/login/registration/test_contact_guesses.py",
            "a_registration_accepts_no_code_after_fifty_wrong_ones_for_its_address",
        ),
    ],
    "Accounts that failed are counted": [
        (NETWORKS, "an_account_counts_once_for_its_network_and_no_more_after_a_success"),
        (NETWORKS, "all_of_an_ipv6_customer_are_counted_together"),
    ],
    "From 100 on": [
        (NETWORKS, "a_network_from_which_many_accounts_failed_has_one_try_in_two_seconds"),
    ],
    "Browsers that are known and networks": [
        (NETWORKS, "a_slowed_network_leaves_known_browsers_alone"),
        (NETWORKS, "known_networks_are_never_slowed"),
    ],
    "An unknown name, a wrong password": [
        (LIMITER, "closed_unknown_and_wrong_have_the_same_page"),
        ("flows/test_guess_times.py", "closed_unknown_and_wrong_take_the_same_time"),
    ],
    "One exception: where passwords were imported": [
        ("idp/passwords/test_hashing.py", "nobodys_password_is_always_wrong_and_takes_as_long"),
        ("idp/passwords/test_hashing.py", "a_quick_old_hash_takes_as_long_as_one_of_today"),
    ],
    "Nothing that a stranger sends locks": [
        (NETWORKS, "one_guess_in_two_seconds_from_one_subnet_keeps_no_owner_out"),
        (LIMITER, "a_closed_account_is_open_to_a_known_browser"),
    ],
    "Limits are counted for each network": [
        (NETWORKS, "somebody_behind_an_address_with_many_mistakes_gets_in"),
    ],
    "Two are counted for everybody": [
        (
            "handlers/http/test_request_limits.py",
            "devices_of_a_client_get_six_hundred_codes_a_minute",
        ),
        (
            "handlers/http/test_request_limits.py",
            "many_networks_with_long_requests_leave_two_to_each_other",
        ),
    ],
    "Browsers in which someone has signed in before have": [
        (
            "handlers/http/test_request_limits.py",
            "a_browser_in_which_a_user_has_signed_in_has_long_requests_of_its_own",
        ),
    ],
    "An account without a verified address": [
        (LAST, "an_account_without_another_way_in_stays_open_once_in_half_an_hour"),
        (LAST, "the_last_owner_stays_open_at_fifty_and_is_closed_beside_another"),
        (LAST, "without_another_way_in_fewer_than_a_hundred_passwords_are_compared"),
    ],
    "Then its owner still gets in": [
        (LAST, "the_last_owner_is_told_once_when_the_account_is_closed"),
        (LIMITER, "an_unlock_opens_a_closed_password"),
    ],
    "An authorization request stores nothing": [
        (
            "handlers/protocol/authorization/test_flow_notes.py",
            "an_authorization_request_stores_nothing",
        ),
        (
            "handlers/protocol/authorization/test_flow_notes.py",
            "looking_at_every_page_stores_nothing",
        ),
        (
            "handlers/protocol/authorization/test_flow_notes.py",
            "a_request_that_is_too_long_for_a_note_is_stored_thirty_times_a_minute",
        ),
    ],
    "Pushed requests, devices and mails": [
        (
            "handlers/http/test_request_limits.py",
            "a_public_client_pushes_sixty_requests_a_minute_from_one_network",
        ),
        ("handlers/http/test_request_limits.py", "a_network_asks_for_thirty_mails_a_minute"),
    ],
    "All of it is deleted minutes": [
        (
            "storage/sqlite/test_sqlite_sweep.py",
            "the_oldest_records_of_strangers_go_first_and_ten_minutes_after_their_end",
        ),
    ],
    "Refused requests are kept": [
        (
            "handlers/protocol/test_refusals.py",
            "of_a_flood_some_are_stored_and_all_are_answered_alike",
        ),
    ],
    "Beyond that the newest 200": [
        (
            "handlers/protocol/test_held_refusals.py",
            "of_a_flood_of_one_application_its_newest_200_are_kept",
        ),
    ],
    "It gets the claims of the scopes": [
        (f"{TOKENS}test_userinfo.py", "each_scope_releases_its_claims_and_no_others"),
        (f"{TOKENS}test_introspection.py", "only_the_claims_of_the_granted_scopes_are_returned"),
    ],
    "Redirect URIs are compared": [
        (
            "handlers/protocol/authorization/test_redirect_uris.py",
            "the_list_is_long_enough_and_each_string_differs_from_what_is_registered",
        ),
        (
            "handlers/protocol/authorization/test_loopback_redirects.py",
            "nothing_but_the_port_may_differ",
        ),
    ],
    "A code gives tokens once": [
        (f"{TOKENS}test_token_code.py", "a_replayed_code_ends_every_token_that_came_of_it"),
        (f"{TOKENS}test_lost_answers.py", "a_code_whose_tokens_reached_nobody_is_redeemed_again"),
        (f"{TOKENS}test_lost_answers.py", "a_code_that_was_redeemed_again_is_used_up"),
    ],
    "A replay ends the whole family": [
        (f"{TOKENS}test_token_refresh.py", "reusing_any_earlier_generation_ends_the_family"),
    ],
    "Public applications need PKCE": [
        ("handlers/protocol/authorization/test_authorize.py", "a_public_client_must_use_pkce"),
    ],
    "Nothing that an organization asserts": [
        (
            f"{MANAGEMENT}organizations/test_tenants.py",
            "an_asserted_address_is_no_claim_no_login_no_409_and_no_takeover_elsewhere",
        ),
        (
            f"{MANAGEMENT}organizations/test_tenants.py",
            "a_code_from_the_mailbox_makes_an_asserted_address_count_everywhere",
        ),
        (
            f"{MANAGEMENT}organizations/test_tenant_names.py",
            "a_name_of_another_organizations_domain_is_refused",
        ),
    ],
    "A user of another organization gets into": [
        (
            "flows/test_allowed_users.py",
            "each_user_may_use_what_the_application_says_at_every_point",
        ),
    ],
    "Lower roles change nothing": [
        (
            f"{MANAGEMENT}test_lower_roles_by_address.py",
            "the_address_of_an_administrator_stays_theirs_alone",
        ),
        (
            f"{MANAGEMENT}projects/test_app_settings.py",
            "nobody_else_lays_hands_on_an_application_with_management_access",
        ),
    ],
    "The policies that an administrator": [
        (
            f"{MANAGEMENT}test_lower_roles_by_policy.py",
            "the_policy_that_an_administrator_signs_in_by_is_not_theirs_to_set",
        ),
    ],
    "Their calls send at most 20": [
        (
            f"{MANAGEMENT}users/test_mail_limits.py",
            "a_manager_sends_twenty_messages_an_hour_to_a_mailbox",
        ),
    ],
    "Each operation is tested with each role": [
        (
            f"{MANAGEMENT}test_api_principals.py",
            "a_caller_reaches_what_their_role_says_and_nothing_else",
        ),
    ],
    "The permission of everybody": [
        (f"{TOKENS}test_acting.py", "everybody_in_the_chain_has_to_keep_the_role"),
        (f"{TOKENS}test_token_exchange_actors.py", "who_may_act_for_whom"),
        (
            f"{TOKENS}test_token_exchange_actors.py",
            "who_is_no_impersonator_any_more_gets_no_further_tokens",
        ),
    ],
    "It ends with the role": [
        (
            f"{TOKENS}test_token_exchange_actors.py",
            "impersonation_that_is_off_is_off_for_every_actor",
        ),
        (f"{TOKENS}test_token_exchange_ends.py", "it_ends_with_anything_that_it_came_of"),
    ],
    "Acting tokens may read": [
        (
            f"{TOKENS}test_token_exchange_actors.py",
            "nobody_changes_anything_in_the_name_of_another",
        ),
        (f"{TOKENS}test_token_exchange_actors.py", "what_another_manages_is_read_in_their_name"),
    ],
    "Cookies change at each sign-in": [
        (
            "handlers/login/test_forms.py",
            "the_cookie_is_new_after_the_sign_in_and_the_old_one_worthless",
        ),
        (f"{MANAGEMENT}users/test_user_sessions.py", "one_session_ends_with_its_tokens"),
        (
            f"{TOKENS}test_token_refresh.py",
            "offline_access_outlives_the_session_and_names_it_no_more",
        ),
        (f"{TOKENS}test_service_tokens.py", "an_applications_token_ends_with_it"),
        (f"{TOKENS}test_group_claims.py", "a_removed_members_role_is_gone_at_once"),
    ],
    "A refresh token is used once": [
        (f"{TOKENS}test_refresh_reuse.py", "many_at_once_get_the_same_successor"),
        (f"{TOKENS}test_refresh_reuse.py", "once_the_successor_was_used_it_is_a_replay"),
        (f"{TOKENS}test_refresh_reuse.py", "when_the_while_is_over_it_is_a_replay"),
    ],
    "Passwords are slow hashes": [
        ("fire/test_invariants.py", "the_checker_finds_a_credential_in_the_clear"),
        (f"{MANAGEMENT}connections/test_connections.py", "no_secret_is_stored_or_told"),
    ],
    "Backups are encrypted": [
        (
            "program/backups/test_backup_commands.py",
            "a_backup_is_one_file_that_only_its_owner_may_read_and_that_reveals_nothing",
        ),
    ],
    "What was changed in the sealed audit log": [
        (
            "program/commands/test_cli_audit_verify.py",
            "the_first_position_that_does_not_hold_is_named",
        ),
        (
            "program/commands/test_cli_audit_verify.py",
            "the_log_of_the_service_serves_as_anchors",
        ),
    ],
    "The service trusts everything else": [],  # a limit, not a promise
    "Names are resolved once": [
        (
            "idp/outgoing/test_name_resolution.py",
            "a_look_up_takes_two_seconds_at_most_and_asks_each_server_in_them",
        ),
        (OUTGOING, "a_name_is_resolved_once_so_that_it_cannot_change_its_mind"),
        (OUTGOING, "one_closed_address_among_public_ones_is_enough_to_refuse_a_name"),
        ("idp/outgoing/test_client.py", "no_redirect_is_followed"),
        (OUTGOING, "no_address_of_a_closed_network_is_called_from_the_internet"),
    ],
    "Organizations take turns": [
        (
            "handlers/protocol/test_logout_turns.py",
            "the_receivers_of_an_organization_that_hang_stop_no_other_organization",
        ),
    ],
    "What was acknowledged is stored": [
        ("fire/test_kills.py", "killed_at_any_write_the_flow_goes_on"),
        (f"{MANAGEMENT}test_repeating.py", "twins_at_once_make_one_thing_and_get_one_answer"),
    ],
}


def promised() -> list[str]:
    """The sentences in the second column of the page's table."""
    table = PAGE.read_text(encoding="utf-8").partition("| attacker | promise |")[2]
    cells = re.findall(r"^\| .+? \| (.+) \|$", table.partition("\n\n")[0], re.M)
    return [sentence for cell in cells for sentence in re.split(r"(?<=\.) (?=[A-Z])", cell)]


def test_each_sentence_names_the_tests_that_show_it():
    sentences = promised()

    assert len(sentences) > 40
    assert [each for each in sentences if not each.startswith(tuple(SHOWN_BY))] == []
    assert [
        begin for begin in SHOWN_BY if not any(map(begin.__eq__, _cut(sentences, begin)))
    ] == []


def _cut(sentences, begin):
    return [sentence[: len(begin)] for sentence in sentences]


@pytest.mark.parametrize("begin", SHOWN_BY)
def test_the_tests_that_show_a_sentence_are_there(begin):
    missing = [
        f"{file}::{name}"
        for file, name in SHOWN_BY[begin]
        if f"def test_{name}(" not in (ROOT / "tests" / file).read_text(encoding="utf-8")
    ]

    assert missing == []

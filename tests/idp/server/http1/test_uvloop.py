"""Connections on uvloop, which the extra `fast` brings: they do what they do on asyncio's loop."""

from __future__ import annotations

import asyncio

import pytest

from tests.idp.server.http1 import test_requests, test_responses, test_tls
from tests.idp.server.http1.test_tls import pair_fixture  # noqa: F401 - a fixture
from tests.support import patience

uvloop = pytest.importorskip("uvloop")

PLAIN = [
    test_requests.test_a_request_is_answered_and_the_connection_stays,
    test_requests.test_requests_that_arrive_together_are_answered_in_their_order,
    test_requests.test_many_tiny_chunks_are_passed_on_together,
    test_requests.test_a_body_is_sent_when_the_client_is_told_to_go_on,
    test_responses.test_an_early_answer_reaches_a_client_that_still_sends,
    test_responses.test_who_does_not_read_stops_who_writes,
    test_responses.test_requests_behind_a_response_that_is_not_read_wait,
    test_responses.test_a_long_upload_takes_no_memory,
    test_responses.test_a_connection_is_not_read_without_end_while_a_request_is_answered,
    test_responses.test_a_client_that_leaves_before_the_answer_is_noticed,
    test_responses.test_a_client_that_only_sends_no_more_gets_its_answers,
    test_responses.test_what_was_answered_is_sent_when_the_server_ends,
]
ENCRYPTED = [
    test_tls.test_large_bodies_pass_in_both_directions,
    test_tls.test_who_does_not_read_stops_who_writes,
    test_tls.test_an_answer_that_ends_the_connection_arrives_whole,
    test_tls.test_a_client_that_leaves_before_the_answer_is_noticed,
    test_tls.test_bytes_that_are_not_encrypted_end_the_connection,
    test_tls.test_a_broken_record_ends_the_connection,
]


def run(test):
    async def limited():
        async with asyncio.timeout(patience.SECONDS):
            await test

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(limited())


@pytest.mark.full
@pytest.mark.parametrize("test", PLAIN, ids=lambda test: test.__name__)
def test_a_connection_on_uvloop(test):
    run(test())


@pytest.mark.full
@pytest.mark.parametrize("test", ENCRYPTED, ids=lambda test: test.__name__)
def test_an_encrypted_connection_on_uvloop(test, pair):
    run(test(pair))

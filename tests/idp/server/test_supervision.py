"""What a supervisor does with its workers, in a group whose processes and time are simulated."""

from __future__ import annotations

import signal

import pytest

from idp.server import supervision
from idp.server.restarts import STORE_UNREACHABLE_SECONDS
from idp.start import exit_codes
from tests.idp.server.simulated_group import KILLED, TICK, Group


@pytest.fixture
def group():
    return Group().run(1)


@pytest.fixture
def replacements(monkeypatch):
    """What the log says of replaced workers: reason, exit code and pause."""
    logged = []

    class Log:
        def warning(self, event, **fields):
            if event == "worker replaced":
                found = fields["reason"], fields["exit_code"], fields["pause_seconds"]
                logged.append(found)

    monkeypatch.setattr(supervision, "_log", Log())
    return lambda: list(logged)


# Serving


def test_the_service_is_announced_once_when_all_workers_have_served():
    group = Group(count=3)
    group.serves = False
    group.run(1)
    first, second, third = group.workers
    for pid in (first, second):
        group.do(group.supervision.record_serving(pid))
    before = list(group.steps)
    for pid in (third, first):
        group.do(group.supervision.record_serving(pid))

    assert before == []
    assert group.steps == ["announce", "ready"]
    assert group.supervision.is_announced


def test_a_report_of_a_process_that_has_ended_changes_nothing(group):
    killed = group.workers[0]
    group.kill(killed)
    group.tick()

    assert group.supervision.record_serving(killed) == []


def test_the_manager_gets_signs_of_life_only_while_a_worker_runs(group):
    first, second = group.workers
    group.freeze(first)
    before = group.signs_of_life
    group.run(10)
    while_one_runs = group.signs_of_life
    group.freeze(second)
    group.run(6)
    while_none_runs = group.signs_of_life
    group.run(10)

    assert while_one_runs == before + 40
    assert group.signs_of_life == while_none_runs


# Replacing


def test_a_killed_worker_is_replaced_at_once_and_then_after_growing_pauses(group, replacements):
    for seconds in (1, 1, 2):
        group.kill(group.workers[0])
        group.run(seconds)

    assert replacements() == [
        ("signal", KILLED, 0.0),
        ("signal", KILLED, 0.5),
        ("signal", KILLED, 1),
    ]
    assert len(group.workers) == 2
    assert group.steps == ["announce", "ready"]


def test_a_worker_is_not_started_before_its_pause_is_over(group):
    for _ in range(2):
        group.kill(group.workers[0])
        group.tick()
        group.tick()
    during_the_pause = len(group.workers)

    assert during_the_pause == 1
    assert 0 < group.supervision.seconds_to_wait(group.now) <= TICK
    assert len(group.run(1).workers) == 2


def test_a_silent_worker_gets_no_connections_then_is_killed_and_replaced(group, replacements):
    first, second = group.workers
    group.freeze(first)
    group.run(4.5)
    early = list(group.shut_off)
    group.run(1)
    shut_off, before = list(group.shut_off), group.received(first)
    group.run(26)

    assert early == []
    assert shut_off == [first]
    assert before == []
    assert group.received(first) == [signal.SIGKILL]
    assert replacements() == [("hung", KILLED, 0.0)]
    assert second in group.workers
    assert first not in group.workers


def test_a_worker_that_comes_back_after_it_was_shut_off_is_replaced(group, replacements):
    first = group.workers[0]
    group.freeze(first)
    group.run(6)
    group.thaw(first)
    group.run(1)

    assert group.received(first) == []
    assert replacements() == [("hung", exit_codes.OK, 0.0)]
    assert len(group.workers) == 2


def test_a_silent_worker_that_blocks_the_others_is_killed_after_five_seconds(group, replacements):
    first = group.workers[0]
    group.freeze(first)
    group.blocking.add(first)
    group.run(4.5)
    early = group.received(first)
    group.run(1)

    assert early == []
    assert group.received(first) == [signal.SIGKILL]
    assert replacements() == [("hung", KILLED, 0.0)]


def test_a_worker_that_does_not_serve_in_two_minutes_is_killed(replacements):
    group = Group(count=1)
    group.serves = False
    group.run(119)
    (pid,) = group.workers
    early = group.received(pid)
    group.run(3)

    assert early == []
    assert group.received(pid) == [signal.SIGKILL]
    assert replacements()[0][:2] == ("hung", KILLED)


def test_a_pause_of_the_whole_machine_ends_no_worker(group):
    workers = group.workers
    group.freeze(*workers)
    group.tick(600)
    group.thaw(*workers)
    group.run(10)

    assert group.workers == workers
    assert group.signals == group.shut_off == []


def test_workers_that_stand_still_together_for_eight_seconds_go_on(replacements):
    group = Group(hang_seconds=5).run(1)
    workers = group.workers
    group.freeze(*workers)
    group.run(8)
    group.thaw(*workers)
    group.run(10)

    assert group.workers == workers
    assert group.signals == group.shut_off == replacements() == []


def test_a_worker_for_which_there_is_no_room_is_started_later(group):
    group.has_room = False
    group.kill(group.workers[0])
    group.run(5)
    without_room = len(group.workers)
    group.has_room = True
    group.run(10)

    assert without_room == 1
    assert len(group.workers) == 2
    assert not group.supervision.is_stopping


# Giving up


@pytest.mark.parametrize("has_room", [True, False], ids=["ending at once", "without room"])
def test_a_group_that_never_serves_pauses_and_gives_up(has_room):
    group = Group()
    group.end_code, group.has_room = exit_codes.FAILED, has_room
    began = group.now
    while not group.supervision.is_over:
        group.tick()
        assert group.now < began + 60

    assert group.now - began > 3  # it paused
    assert group.steps == ["stopping", "close port"]
    assert group.supervision.exit_code == exit_codes.FAILED


def test_a_group_whose_store_is_away_tries_again_and_never_gives_up(replacements):
    group = Group(count=1)
    group.end_code = exit_codes.UNREACHABLE
    group.run(400)

    assert not group.supervision.is_stopping
    assert 80 < len(replacements()) <= 100
    assert set(replacements()) == {("exit", exit_codes.UNREACHABLE, STORE_UNREACHABLE_SECONDS)}


# Stopping


def test_a_stop_asks_every_worker_and_is_over_when_all_have_ended(group):
    workers = group.workers
    group.stop()
    before = group.supervision.is_over
    group.run(1)

    assert [group.received(pid) for pid in workers] == [[signal.SIGTERM, signal.SIGTERM]] * 2
    assert group.steps[2:] == ["stopping", "close port"]
    assert not before
    assert group.supervision.is_over
    assert group.supervision.exit_code == exit_codes.OK


def test_ctrl_c_is_passed_on_as_such(group):
    group.stop(signal.SIGINT)

    assert group.received(group.workers[0]) == [signal.SIGINT, signal.SIGTERM]


def test_a_worker_that_stands_still_is_killed_when_the_time_of_a_stop_is_over(group):
    first, second = group.workers
    group.freeze(first)
    group.stop()
    group.run(14.5)
    early = group.received(first)
    group.run(1)

    assert signal.SIGKILL not in early
    assert signal.SIGKILL in group.received(first)
    assert signal.SIGKILL not in group.received(second)
    assert group.supervision.is_over
    assert group.supervision.exit_code == exit_codes.FAILED


def test_a_second_signal_kills_those_that_have_not_ended(group):
    group.freeze(*group.workers)
    workers = group.workers
    group.stop()
    group.stop()
    group.run(1)

    assert all(group.received(pid)[-1] == signal.SIGKILL for pid in workers)
    assert group.supervision.is_over
    assert group.supervision.exit_code == exit_codes.FAILED


def test_a_preparation_that_stands_still_is_killed_when_the_time_of_a_stop_is_over():
    group = Group()
    group.supervision.record_preparation(77)
    group.freeze(77)
    group.stop()
    received = []
    for _ in range(61):
        group.now += TICK
        group.do(group.supervision.check(group.now, dict().__getitem__, set().__contains__))
        received.append(group.received(77))

    assert received[57] == [signal.SIGTERM, signal.SIGTERM]  # after 14.5 s
    assert received[-1][:3] == [signal.SIGTERM, signal.SIGTERM, signal.SIGKILL]
    assert group.supervision.exit_code == exit_codes.FAILED


def test_after_a_stop_during_the_preparation_no_worker_is_started():
    group = Group()
    group.supervision.record_preparation(77)
    group.stop()
    group.supervision.record_preparation(None)

    assert group.supervision.due(group.now + 100) == []
    assert group.supervision.is_over
    assert group.supervision.exit_code == exit_codes.OK


def test_a_worker_that_ended_before_a_stop_is_not_replaced_during_it(group):
    for _ in range(2):  # the second one has a pause
        group.kill(group.workers[0])
        group.tick()
        group.tick()
    group.stop()

    assert group.supervision.due(group.now + 100) == []
    assert group.supervision.seconds_to_wait(group.now + 100) == TICK
    group.run(20)
    assert group.supervision.is_over
    assert group.supervision.exit_code == exit_codes.OK


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [(0, 0), (-signal.SIGTERM, 0), (3, 3), (-signal.SIGSEGV, exit_codes.FAILED)],
)
def test_the_group_ends_as_its_workers_do(group, code, exit_code):
    group.stop()
    for pid in group.workers:
        group.do(group.supervision.record_end(group.now, pid, code))

    assert group.supervision.exit_code == exit_code


# Reading the settings again


def test_workers_that_serve_read_the_settings_at_once(group):
    group.reload()

    assert [group.received(pid) for pid in group.workers] == [[signal.SIGHUP]] * 2


def test_a_worker_that_started_before_the_reload_reads_the_settings_when_it_serves():
    group = Group()
    group.serves = False
    group.run(1)
    early, other = group.workers
    group.reload()
    before = group.received(early)
    group.do(group.supervision.record_serving(early))

    assert before == []
    assert group.received(early) == [signal.SIGHUP]
    assert group.received(other) == []


def test_a_worker_that_started_after_the_reload_has_the_new_settings_already(group):
    group.reload()
    group.kill(group.workers[0])
    group.run(1)

    assert group.received(group.workers[0]) == []

"""The disk for temporary files is full: imports and exports are refused until there is room."""

from __future__ import annotations

import errno
import tempfile

import pytest

from handlers import api
from idp.records import JOBS
from idp.transfer.calls import imports
from idp.transfer.package.uploads import SMALL_BYTES
from tests.handlers.transfer.test_import_sizes import headed
from tests.support.browsers.wire import exchange
from tests.support.management.callers import refused
from tests.support.programs.disks import MIB, small_disk
from tests.support.store.stored import count
from tests.support.transfer.bulk import IMPORT, large, orgs, package

EXPORT, JOBS_PATH = "/admin/v1/export", "/admin/v1/jobs"
SENT = {
    "an export": (EXPORT, {}),
    "a small import": (IMPORT, package(*orgs(1))),
    "a large import": (IMPORT, large()),
}


class PretendedDisk:
    """A directory in which no temporary file can be made while it is full."""

    def __init__(self, path, monkeypatch):
        self.path, self._is_full = path, False
        path.mkdir()
        for name in ("mkdtemp", "TemporaryFile"):
            monkeypatch.setattr(tempfile, name, self._refusing(getattr(tempfile, name)))

    def _refusing(self, make):
        def made(*args, **options):
            if self._is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            return make(*args, **options)

        return made

    def fill(self):
        self._is_full = True
        (self.path / "filler").touch()

    def empty(self):
        self._is_full = False
        (self.path / "filler").unlink()


@pytest.fixture(params=["pretended", pytest.param("mounted", marks=pytest.mark.full)])
def disk(request, tmp_path, monkeypatch):
    """Where temporary files are; there is room for hardly more than a large import."""
    path = tmp_path / "temporary"
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    if request.param == "pretended":
        yield PretendedDisk(path, monkeypatch)
        return
    with small_disk(path, 8 * MIB) as made:
        yield made


@pytest.mark.full
@pytest.mark.promise("faults: temporary files")
@pytest.mark.parametrize("name", SENT)
async def test_it_is_503_without_room_and_taken_as_soon_as_there_is_some(
    server, owner, disk, name
):
    path, document = SENT[name]
    owner.visitor.may_fail = True
    before = await count(server.store)
    disk.fill()
    page = await owner.post(path, document)
    left = [file.name for file in disk.path.iterdir()]
    after = await count(server.store)
    disk.empty()
    again = await owner.post(path, document)

    assert refused(page, 503, 14) == {"": "disk_full"}
    assert page.headers["Retry-After"] == "30"
    assert (after.get("jobs", 0), left) == (0, ["filler"])
    assert after["organizations"] == before["organizations"]
    assert again.status == 200


@pytest.mark.promise("faults: temporary files")
async def test_a_body_for_which_there_is_no_room_is_cut_off_with_the_answer(
    server, owner, disk, monkeypatch
):
    monkeypatch.setattr(api, "_MAX_IGNORED_BYTES", 4096)
    disk.fill()
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    # What arrives together with the first bytes beyond SMALL_BYTES is not counted as ignored.
    pieces = piece * (SMALL_BYTES // 65536 + 32)

    answer = await exchange(server, headed(server, owner, "Transfer-Encoding: chunked") + pieces)

    assert (answer.status_code, "disk_full" in answer.text) == (503, True)
    assert "jobs" not in await count(server.store)


@pytest.mark.full
@pytest.mark.promise("faults: temporary files")
async def test_a_job_that_finds_no_room_fails_with_its_reason_and_can_go_on(
    server, owner, disk, monkeypatch
):
    genuine = imports._store_package

    async def store_package(*given):
        parts = await genuine(*given)
        disk.fill()
        return parts

    monkeypatch.setattr(imports, "_store_package", store_package)
    owner.visitor.may_fail = True
    page = await owner.post(IMPORT, large())
    (job,) = [each async for each in server.store.scan(JOBS)]
    disk.empty()
    resumed = await owner.post(f"{JOBS_PATH}/{job.id}/_resume", {})
    ended = await server.store.get(JOBS, job.id)

    assert refused(page, 503, 14) == {"": "disk_full"}
    assert (job.state, job.reason_slug) == ("failed", "disk_full")
    assert resumed.status == 200
    assert ended.state != "failed"

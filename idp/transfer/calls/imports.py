"""The call POST /admin/v1/import, which creates a job for a package and waits for the job's end.
The answer is sent when the job has ended or after `timeout`. After a timeout the job continues,
and the answer lists the records that are stored so far.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import ExitStack
from datetime import timedelta
from typing import Annotated, Any, Final, TypeVar

from msgspec import Struct

from idp.changes import Change
from idp.foundation import cancellation, strict_json
from idp.foundation.errors import DiskFull, FieldProblem, IdpError, InvalidArgument
from idp.limits import requester
from idp.management.call import Call
from idp.records.jobs import JOBS, Job, JobOptions
from idp.schema import reading
from idp.schema.field_rules import Duration, Schema
from idp.schema.reading import Request
from idp.service import Service
from idp.transfer.bucket import store as bucket_store
from idp.transfer.bucket.location import AzureLocation, GcsLocation, Location, S3Location
from idp.transfer.calls import import_answer
from idp.transfer.calls.import_answer import Imported
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.jobs import runner as job_runner
from idp.transfer.jobs.lifecycle import Hold
from idp.transfer.package import chunks as package_chunks
from idp.transfer.package import scratch
from idp.transfer.package.format import Package, read_package
from idp.transfer.package.reader import LOCATION_MEMBERS
from idp.transfer.package.uploads import Upload

DEFAULT_TIMEOUT: Final = timedelta(minutes=5)
# Rows per batch of a small package, which is processed by a process that also answers requests.
SMALL_BATCH: Final = 50
_CONCURRENT_PARTS: Final = 4
_FIRST_PAUSE_SECONDS: Final = 0.01
_LONGEST_PAUSE_SECONDS: Final = 0.25
_LOCATIONS: Final = (
    "data_orgs_gcs",
    "data_orgsv1_gcs",
    "data_orgs_s3",
    "data_orgsv1_s3",
    "data_orgs_azure",
    "data_orgsv1_azure",
)
_PACKAGE_MEMBERS: Final = ("dataOrgs", "data_orgs", "dataOrgsv1", "data_orgsv1", "orgs")


B = TypeVar("B", bound="EnvelopeOptions")


class PackageDocument(Struct, frozen=True):
    """The rule of a field that holds a package. It accepts any value: the job validates the rows
    one by one.
    """

    def read(self, value: object) -> object:
        return value

    def schema(self) -> Schema:
        return {"type": "object", "description": "Organizations, in the format of an export."}


class EnvelopeOptions(Request, frozen=True, kw_only=True):
    """The options that a package in object storage may contain next to its organizations.

    They have no effect: the options of the call apply.
    """

    timeout: Annotated[timedelta, Duration()] = DEFAULT_TIMEOUT


class ImportCallOptions(EnvelopeOptions, frozen=True, kw_only=True):
    """The options of an import call.

    `timeout` limits the wait for the job's end. `dry_run` stores nothing, `update` updates
    existing records, and `fix` corrects formal mistakes that have only one possible correction.
    """

    dry_run: bool = False
    update: bool = False
    fix: bool = False


class Import(ImportCallOptions, frozen=True, kw_only=True):
    """Exactly one package. `dataOrgsv1` may also be the text of the document. With a member that
    ends in `Gcs`, `S3` or `Azure` it is read from object storage; the credentials are not stored.
    """

    one_of = (("data_orgs", "data_orgsv1", *_LOCATIONS),)

    data_orgs: Annotated[Any, PackageDocument()] = None
    data_orgsv1: Annotated[Any, PackageDocument()] = None
    data_orgs_gcs: GcsLocation | None = None
    data_orgsv1_gcs: GcsLocation | None = None
    data_orgs_s3: S3Location | None = None
    data_orgsv1_s3: S3Location | None = None
    data_orgs_azure: AzureLocation | None = None
    data_orgsv1_azure: AzureLocation | None = None


async def import_package(service: Service, call: Call, package: Upload) -> Change[Imported]:
    """Imports organizations with all their records, from an export or another system.

    Rows that can't be stored are reported, the others are stored. Raises InvalidArgument if this
    is no package, or it can't be read from its location; Busy if too many transfers are running.
    Nothing is stored then.
    """
    deadline = service.timer.monotonic()
    document = _envelope(package)
    if not document.keys() & set(LOCATION_MEMBERS):
        options = _envelope_options(ImportCallOptions, document)
        deadline += options.timeout.total_seconds()
        return await _planned(service, call, options, package, deadline)
    options, name, location = _remote_package(package, document, service.config.max_json_bytes)
    deadline += options.timeout.total_seconds()
    remote_package = await _fetch(service, name, location, deadline, package.abandoned)
    package.owned.callback(remote_package.close)
    return await _planned(service, call, options, remote_package, deadline)


async def _planned(
    service: Service, call: Call, request: ImportCallOptions, package: Upload, deadline: float
) -> Change[Imported]:
    """Returns the change that stores a job; then its package is stored, so that any process can
    finish it."""
    # Read before a job is created, so that an invalid package leaves no failed job.
    small_package = await asyncio.to_thread(_read, package) if package.is_small else None
    if small_package is not None:
        package.owned.push(small_package.files)
    options = JobOptions(is_dry_run=request.dry_run, updates=request.update, mends=request.fix)
    job = job_lifecycle.new(service, call.actor, options, holder=service.random.id())

    async def import_all() -> Imported:
        await _begin(service, job, package, small_package)
        ended = await _wait_for(service, job.id, deadline)
        if ended.state == "failed":
            raise _failure(ended)
        return await import_answer.of_job(service, ended)

    answer = import_answer.of_new_job(job)
    return Change(answer, job_lifecycle.insertion(service, job), then=import_all)


def _envelope(package: Upload) -> dict[str, Any]:
    """Returns the members of a package's document. Raises InvalidArgument."""
    document = package.envelope()
    if not isinstance(document, dict):
        raise InvalidArgument([FieldProblem("field.wrong_type", "", "must be an object")])
    return document


def _envelope_options(options_type: type[B], document: dict[str, Any]) -> B:
    """Returns the options next to exactly one package. Raises InvalidArgument."""
    envelope_options = {
        name: value for name, value in document.items() if name not in _PACKAGE_MEMBERS
    }
    options, problems = reading.collect(options_type, envelope_options)
    option_names = [name for name in document if name in _PACKAGE_MEMBERS]
    if not option_names:
        problems.append(FieldProblem("field.required", _PACKAGE_MEMBERS[0], "is required"))
    problems += [
        FieldProblem("field.conflict", name, f"can't be sent together with {option_names[0]}")
        for name in option_names[1:]
    ]
    if problems:
        raise InvalidArgument(problems)
    return options


def _remote_package(
    package: Upload, document: dict[str, Any], max_bytes: int
) -> tuple[Import, str, Location]:
    """Returns a call whose package is in object storage, the member with the location, and the
    location.

    Raises InvalidArgument.
    """
    (name, *_) = (name for name in LOCATION_MEMBERS if name in document)
    if package.size > max_bytes:
        message = f"has more than {max_bytes} bytes, although it only names the package"
        raise InvalidArgument([FieldProblem("json.too_large", name, message)])
    package.rewind()
    request = reading.read(Import, strict_json.decode(package.read(max_bytes)))
    # A member of LOCATION_MEMBERS is there, and null is refused.
    (location,) = (found for field in _LOCATIONS if (found := getattr(request, field)) is not None)
    return request, name, location


async def _fetch(
    service: Service,
    name: str,
    location: Location,
    deadline: float,
    abandoned: asyncio.Event,
) -> Upload:
    """Returns the package from object storage.

    Raises InvalidArgument (at `name`), Busy, and DeadlineExceeded when no client waits for the
    answer any more.
    """
    try:
        with scratch.directory() as directory:
            file, seconds = directory / "package.json", deadline - service.timer.monotonic()
            max_bytes = service.config.max_import_bytes
            await cancellation.run_unless_set(
                abandoned, bucket_store.fetch(service, location, file, seconds, max_bytes)
            )
            package = await asyncio.to_thread(Upload.from_file, file)
        try:
            _envelope_options(EnvelopeOptions, _envelope(package))
        except InvalidArgument:
            package.close()
            raise
    except InvalidArgument as error:
        raise error.within(name) from None
    return package


class _ReadPackage(Struct, frozen=True):
    """A small package, whose rows are in temporary `files` until these are closed."""

    package: Package
    files: ExitStack


def _read(package: Upload) -> _ReadPackage:
    """Reads a document before anything is stored. Raises InvalidArgument if it is no package."""
    with ExitStack() as files:
        directory = files.enter_context(scratch.directory())
        package.rewind()
        return _ReadPackage(read_package(package, directory), files.pop_all())


async def _begin(
    service: Service, job: Job, package: Upload, small_package: _ReadPackage | None
) -> None:
    hold = Hold(service, job)
    await hold.store_values(
        parts=await _store_package(service, hold, package), digest=package.digest
    )
    if small_package is not None:
        package.owned.pop_all()  # the job removes the files when it has ended
        service.background_tasks.start(_work_on_small(service, hold, small_package))
    elif service.wake_importer is None:
        service.background_tasks.start(_work(service, hold))
    else:
        await hold.release()
        service.wake_importer()


async def _store_package(service: Service, hold: Hold, package: Upload) -> int:
    """Stores the package in parts, a few concurrently; returns their number."""
    parts, count = package.chunks(package_chunks.PART_BYTES), 0
    while batch := list(itertools.islice(parts, _CONCURRENT_PARTS)):
        if count:
            await hold.renew()
        job = hold.job.id
        await asyncio.gather(
            *(package_chunks.store(service, job, n, each) for n, each in enumerate(batch, count))
        )
        count += len(batch)
    return count


async def _work(service: Service, hold: Hold) -> None:
    await job_runner.work(service, hold)


async def _work_on_small(service: Service, hold: Hold, small_package: _ReadPackage) -> None:
    with small_package.files:
        await job_runner.work_on_read(service, hold, small_package.package, size=SMALL_BATCH)


async def _wait_for(service: Service, job_id: str, deadline: float) -> Job:
    """Returns the job when it has ended, or in its current state after the deadline."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        job = await service.store.get(JOBS, job_id)
        if job is None:
            raise IdpError("the job was deleted")
        remaining = deadline - service.timer.monotonic()
        if job.state not in job_lifecycle.WAITING or remaining <= 0:
            return job
        await service.timer.sleep(min(pause, remaining))
        if pause == _LONGEST_PAUSE_SECONDS:  # the job may take hours, in another process
            requester.current().wait_elsewhere()
        # A small import ends within milliseconds; a long one should not load the store.
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)


def _failure(job: Job) -> IdpError:
    if job.reason_slug == job_lifecycle.INTERNAL:
        return IdpError("the service failed")
    if job.reason_slug == DiskFull.error_code:
        return DiskFull()
    field, message = job.reason_field or "", job.reason or ""
    problem = FieldProblem(job.reason_slug or "", field, message.removeprefix(f"{field}: "))
    return InvalidArgument([problem])

"""Bodies for imports, and jobs to act on."""

from __future__ import annotations

import msgspec

from idp.records import JOBS, JobOptions
from idp.transfer.jobs import lifecycle as job_lifecycle
from idp.transfer.package import chunks as package_chunks
from storage import Update
from tests.support.samples.searches import NO_PLACE
from tests.support.servers.bucket import ACCOUNT, packed

PLACE = {"bucket": "acme", "path": "a/b.json", "serviceaccountJson": packed(ACCOUNT)}
S3 = {
    "bucket": "acme",
    "path": "a/b.json",
    "accessKeyId": "AKIDEXAMPLE",
    "secretAccessKey": "wJalrXUtnFEMI",
    "region": "us-east-1",
    "endpoint": "s3.example.com",
    "ssl": True,
}
AZURE = {
    "account": "acme",
    "container": "acme",
    "path": "a/b.json",
    "accessKey": "c2VjcmV0",
    "endpoint": "blob.example.com",
    "ssl": True,
}
AZURE_BY_TOKEN = {name: value for name, value in AZURE.items() if name != "accessKey"}
AZURE_BY_TOKEN["sasToken"] = "sv=2024-11-04&sig=c2VjcmV0"  # noqa: S105 - a sample
BODIES = {
    "POST /admin/v1/export": (
        {
            "orgIds": [],
            "excludedOrgIds": [],
            "withPasswords": False,
            "withOtp": False,
            "timeout": "1m",
            "responseOutput": True,
            "localOutput": {},
        },
        {"gcsOutput": PLACE},
        {"s3Output": S3},
        {"azureOutput": AZURE},
        {"azureOutput": AZURE_BY_TOKEN},
    ),
    "POST /admin/v1/import": (
        {
            "dataOrgs": {"orgs": []},
            "timeout": "1h0m0s",
            "dryRun": True,
            "update": True,
            "fix": False,
        },
        {"dataOrgsv1": {"orgs": []}},
        {"dataOrgsGcs": PLACE},
        {"dataOrgsv1Gcs": PLACE},
        {"dataOrgsS3": S3},
        {"dataOrgsv1S3": S3},
        {"dataOrgsAzure": AZURE},
        {"dataOrgsAzure": AZURE_BY_TOKEN},
        {"dataOrgsv1Azure": AZURE},
        {"dataOrgsv1Azure": AZURE_BY_TOKEN},
    ),
    "POST /admin/v1/jobs/_search": (
        {"query": NO_PLACE, "queries": [{"stateQuery": {"state": "JOB_STATE_QUEUED"}}]},
    ),
}


async def waiting(server, *orgs, **options) -> str:
    """The id of a job that no process runs, whose package is stored."""
    job = job_lifecycle.new(server.service, "importer", JobOptions(**options))
    await job_lifecycle.begin(server.service, job)
    await package_chunks.store(server.service, job.id, 0, msgspec.json.encode({"orgs": orgs}))
    await server.store.commit(Update(JOBS, job.id, set={"parts": 1}))
    return job.id


async def waiting_job(world):
    return {"jobId": await waiting(world.server)}


MADE = {
    "GET /admin/v1/jobs/{jobId}": waiting_job,
    "GET /admin/v1/jobs/{jobId}/errors": waiting_job,
    "POST /admin/v1/jobs/{jobId}/_cancel": waiting_job,
    "POST /admin/v1/jobs/{jobId}/_resume": waiting_job,
}

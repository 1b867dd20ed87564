"""Packages for tests: what is in them, and files that give them."""

from __future__ import annotations

import io

import pytest

from idp.transfer.kinds.kind import RowKind
from idp.transfer.package.format import PackageRefused

KINDS = (
    RowKind(member="domainPolicy", type="domain_policy", is_single=True),
    RowKind(member="humanUsers", type="human_user", identity=("userId",)),
    RowKind(member="machineUsers", type="machine_user", identity=("userId",)),
    RowKind(member="userMetadata", type="user_metadata", identity=("id", "key")),
    RowKind(member="userGrants", type="user_grant"),
)


class Trickle(io.BytesIO):
    """A file that returns a few bytes at a time, as a slow connection does."""

    def __init__(self, data, most):
        super().__init__(data)
        self.most = most

    def read(self, size=-1):
        return super().read(min(size, self.most))


def rows(package, skip=0, size=500):
    return [row for batch in package.batches(skip, size) for row in batch]


def refusal(call, *arguments):
    with pytest.raises(PackageRefused) as refused:
        call(*arguments)
    return refused.value


def of(*orgs):
    return {"dataOrgs": {"orgs": list(orgs)}}


def with_row(text):
    """A package of three rows, the middle one of which stands in its file as given."""
    users = f'[{{"userId":"1"}},{text},{{"userId":"3"}}]'
    return f'{{"dataOrgs":{{"orgs":[{{"orgId":"o","humanUsers":{users}}}]}}}}'

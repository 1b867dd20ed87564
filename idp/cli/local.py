"""The back end that works on the store itself; access to this machine is the permission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Final

import msgspec

from idp.api.operation import Operation, document_of
from idp.cli.commands.admin import ACTOR
from idp.cli.document import Document
from idp.foundation.clock import Clock
from idp.foundation.errors import NotFound
from idp.identity.users import permissions
from idp.identity.users.permissions import Rights
from idp.management import call as management_call
from idp.management.call import Call
from idp.records import INSTANCE_ID, INSTANCES, Profile, User
from idp.service import Service
from idp.transfer.package.uploads import Upload

_ALL_RIGHTS: Final = Rights(everywhere=permissions.ALL, by_organization={})


class Local(msgspec.Struct, frozen=True):
    """The back end that carries out calls on an opened store. They have all permissions, and
    concern the organization `org_id`, or else the first one.

    `caller` is the user that the audit log names.
    """

    service: Service
    caller: User
    org_id: str | None

    @property
    def clock(self) -> Clock:
        return self.service.clock

    @property
    def issuer(self) -> str:
        return self.service.config.issuer

    def within(self, org_id: str | None) -> Local:
        return msgspec.structs.replace(self, org_id=org_id)

    async def call(
        self,
        operation: Operation,
        values: Sequence[str] = (),
        document: object = None,
        if_match: int | None = None,
    ) -> Document:
        """Carries out the operation and returns its answer, as `Backend.call` does. Raises
        IdpError, StorageError.
        """
        call = Call(self.caller, _ALL_RIGHTS, operation.permission, self.org_id, if_match=if_match)
        await management_call.admitted(self.service, call)
        ids = operation.path_values(values)
        with _arguments(operation, document) as arguments:
            if operation.returns_file:
                stored = await operation.run(self.service, call, *ids, **arguments)
                with stored.file as file:
                    file.seek(0)
                    return msgspec.json.decode(file.read(), type=Document)
            answer = await operation.carry_out(self.service, call, *ids, **arguments)
        return document_of(answer)


async def backend(service: Service, org_id: str | None) -> Local:
    """Returns the back end over the store of this service, with `org_id` as the organization of
    its calls. Raises NotFound if the store was never set up.
    """
    instance = await service.store.get(INSTANCES, INSTANCE_ID)
    if instance is None:
        raise NotFound("there is no installation in this store")
    now = service.clock.now()
    # This user is not stored; it is the actor of audit events.
    caller = User(
        id=ACTOR,
        org_id=instance.org_id,
        kind="machine",
        user_name=ACTOR,
        login_key=ACTOR,
        stamp="",
        profile=Profile(display_name=ACTOR),
        created_at=now,
        changed_at=now,
    )
    return Local(service, caller, org_id)


@contextmanager
def _arguments(operation: Operation, document: object) -> Iterator[Document]:
    """Returns the operation's arguments from the document. Raises InvalidArgument."""
    if operation.body != "package":
        yield operation.arguments(document)
        return
    package = Upload()
    with closing(package):
        package.append(msgspec.json.encode(document))
        yield {"package": package}

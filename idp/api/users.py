"""/v2/users: people, and what is kept with a user, whoever it is."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
from idp.clients import role_assignments, search_assignments
from idp.identity import (
    change_human,
    contacts,
    create_human,
    import_human,
    invitations,
    password_calls,
    prove_contact,
    read_user,
    user_factors,
    user_metadata,
    user_passkeys,
    user_removal,
    user_search,
    user_sessions,
    user_states,
)
from idp.identity.import_human import ImportHuman
from idp.identity.new_user_requests import CreateHuman

_USER: Final = "/v2/users/{userId}"
_MANAGED: Final = "/management/v1/users/{userId}"
_METADATA: Final = f"{_MANAGED}/metadata/{{key}}"
_GRANTS: Final = f"{_MANAGED}/grants"
_GRANT: Final = f"{_GRANTS}/{{grantId}}"

OPERATIONS = (
    operation(
        "POST",
        "/v2/users/human",
        "user.write",
        create_human.create,
        document=CreateHuman,
        large=True,
    ),
    operation("POST", "/v2/users", "user.read", user_search.search),
    operation("GET", _USER, "user.read", read_user.read),
    operation("DELETE", _USER, "user.write", user_removal.remove, conditional=True),
    operation(
        "PUT", "/v2/users/human/{userId}", "user.write", change_human.change, conditional=True
    ),
    operation(
        "POST",
        "/management/v1/users/human/_import",
        "user.import",
        import_human.take,
        document=ImportHuman,
    ),
    operation("POST", f"{_USER}/email", "user.write", contacts.set_email, conditional=True),
    operation("POST", f"{_USER}/email/resend", "user.write", contacts.resend_email),
    operation("POST", f"{_USER}/phone", "user.write", contacts.set_phone, conditional=True),
    operation("POST", f"{_USER}/phone/resend", "user.write", contacts.resend_phone),
    operation("DELETE", f"{_USER}/phone", "user.write", contacts.remove_phone, conditional=True),
    operation(
        "POST", f"{_USER}/password", "user.write", password_calls.set_password, conditional=True
    ),
    operation("POST", f"{_USER}/password_reset", "user.write", password_calls.reset_password),
    operation("POST", f"{_USER}/invite_code", "user.write", invitations.invite),
    operation("POST", f"{_USER}/invite_code/resend", "user.write", invitations.resend),
    operation("POST", f"{_USER}/sessions/_search", "user.read", user_sessions.search),
    operation(
        "POST", f"{_USER}/sessions/_end", "user.write", user_sessions.end_all, conditional=True
    ),
    operation(
        "DELETE",
        f"{_USER}/sessions/{{sessionId}}",
        "user.write",
        user_sessions.end,
        conditional=True,
    ),
    operation("GET", f"{_USER}/authentication_methods", "user.read", user_factors.methods),
    operation("DELETE", f"{_USER}/totp", "user.write", user_factors.remove_totp, conditional=True),
    operation("POST", f"{_USER}/passkeys/_search", "user.read", user_passkeys.search),
    operation(
        "DELETE",
        f"{_USER}/passkeys/{{passkeyId}}",
        "user.write",
        user_passkeys.remove,
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/email/verify",
        "user.write",
        partial(prove_contact.prove, contact="email"),
        summary="Prove a user's e-mail address by the code that was sent there.",
    ),
    operation(
        "POST",
        f"{_USER}/phone/verify",
        "user.write",
        partial(prove_contact.prove, contact="phone"),
        summary="Prove a user's phone number by the code that was sent there.",
    ),
    operation(
        "POST",
        f"{_USER}/deactivate",
        "user.write",
        partial(user_states.change, name="deactivate"),
        conditional=True,
        summary="Shut a user out until they are reactivated; all that was issued to them ends.",
    ),
    operation(
        "POST",
        f"{_USER}/reactivate",
        "user.write",
        partial(user_states.change, name="reactivate"),
        conditional=True,
        summary="Let a deactivated user in again.",
    ),
    operation(
        "POST",
        f"{_USER}/lock",
        "user.write",
        partial(user_states.change, name="lock"),
        conditional=True,
        summary="Lock a user out; all that was issued to them ends.",
    ),
    operation(
        "POST",
        f"{_USER}/unlock",
        "user.write",
        user_states.unlock,
        conditional=True,
        summary="Let a locked user in again.",
    ),
    operation("POST", f"{_MANAGED}/metadata/_search", "user.read", user_metadata.search),
    operation("GET", _METADATA, "user.read", user_metadata.show),
    operation("POST", _METADATA, "user.write", user_metadata.put, conditional=True),
    operation("DELETE", _METADATA, "user.write", user_metadata.remove, conditional=True),
    operation(
        "POST",
        "/management/v1/users/grants/_search",
        "user.grant.read",
        search_assignments.search,
    ),
    operation("GET", _GRANTS, "user.grant.read", role_assignments.listed),
    operation("POST", _GRANTS, "user.grant.write", role_assignments.create),
    operation("PUT", _GRANT, "user.grant.write", role_assignments.change, conditional=True),
    operation("DELETE", _GRANT, "user.grant.write", role_assignments.remove, conditional=True),
)

"""Operations at /v2/users: persons, and what belongs to users of any kind."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import operation
from idp.management.projects import role_assignments, search_assignments
from idp.management.users import change as user_change
from idp.management.users import contacts, invitations, verify_contact
from idp.management.users import create as user_create
from idp.management.users import factors as user_factors
from idp.management.users import import_one as user_import_one
from idp.management.users import metadata as user_metadata
from idp.management.users import passkeys as user_passkeys
from idp.management.users import passwords as user_passwords
from idp.management.users import read as user_read
from idp.management.users import removal as user_removal
from idp.management.users import search as user_search
from idp.management.users import sessions as user_sessions
from idp.management.users import states as user_states
from idp.management.users.import_one import ImportHuman
from idp.management.users.new_user import CreateHuman

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
        user_create.create,
        name="create_human_create",
        summary="Create the user that a JSON document describes (`CreateHuman`).",
        document=CreateHuman,
        large=True,
    ),
    operation(
        "POST",
        "/v2/users",
        "user.read",
        user_search.search,
        name="user_search_search",
        summary="Find users, in all organizations that the caller reaches.",
    ),
    operation(
        "GET",
        _USER,
        "user.read",
        user_read.read,
        name="read_user_read",
        summary="The user as it is now.",
    ),
    operation(
        "DELETE",
        _USER,
        "user.write",
        user_removal.remove,
        name="user_removal_remove",
        summary="Delete a user: memberships, roles, keys, tokens, consents and metadata go with"
        " them, and the login names are free again.",
        conditional=True,
    ),
    operation(
        "PUT",
        "/v2/users/human/{userId}",
        "user.write",
        user_change.change,
        name="change_human_change",
        summary="Change what a person is called, and what is known of them; nothing ends by it.",
        conditional=True,
    ),
    operation(
        "POST",
        "/management/v1/users/human/_import",
        "user.import",
        user_import_one.take,
        name="import_human_take",
        summary="Take in a person with the password hash that they have elsewhere.",
        document=ImportHuman,
    ),
    operation(
        "POST",
        f"{_USER}/email",
        "user.write",
        contacts.set_email,
        name="contacts_set_email",
        summary="Give a person another e-mail address, which is to be proven unless it is called"
        " verified; the one before is told.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/email/resend",
        "user.write",
        contacts.resend_email,
        name="contacts_resend_email",
        summary="Prove a person's e-mail address by another code; those before count no more.",
    ),
    operation(
        "POST",
        f"{_USER}/phone",
        "user.write",
        contacts.set_phone,
        name="contacts_set_phone",
        summary="Give a person another phone number, which is to be proven unless it is called"
        " verified.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/phone/resend",
        "user.write",
        contacts.resend_phone,
        name="contacts_resend_phone",
        summary="Prove a person's phone number by another code; those before count no more.",
    ),
    operation(
        "DELETE",
        f"{_USER}/phone",
        "user.write",
        contacts.remove_phone,
        name="contacts_remove_phone",
        summary="Forget a person's phone number.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/password",
        "user.write",
        user_passwords.set_password,
        name="password_calls_set_password",
        summary="Give a person a new password: every session and token of theirs ends.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/password_reset",
        "user.write",
        user_passwords.reset_password,
        name="password_calls_reset_password",
        summary="Let a person's password be set by a code, which is mailed or answered; nothing"
        " ends by it.",
    ),
    operation(
        "POST",
        f"{_USER}/invite_code",
        "user.write",
        invitations.invite,
        name="invitations_invite",
        summary="Invite a person to choose their first password, by a code that is mailed or"
        " answered.",
    ),
    operation(
        "POST",
        f"{_USER}/invite_code/resend",
        "user.write",
        invitations.resend,
        name="invitations_resend",
        summary="Invite a person once more; the codes before count no more.",
    ),
    operation(
        "POST",
        f"{_USER}/sessions/_search",
        "user.read",
        user_sessions.search,
        name="user_sessions_search",
        summary="List the sessions of a user: those that last, and those that have ended of late.",
    ),
    operation(
        "POST",
        f"{_USER}/sessions/_end",
        "user.write",
        user_sessions.end_all,
        name="user_sessions_end_all",
        summary="Sign a user out everywhere: sessions, tokens and personal access tokens end for"
        " good.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"{_USER}/sessions/{{sessionId}}",
        "user.write",
        user_sessions.end,
        name="user_sessions_end",
        summary="End one session of a user, with the tokens that name it; its applications are"
        " told.",
        conditional=True,
    ),
    operation(
        "GET",
        f"{_USER}/authentication_methods",
        "user.read",
        user_factors.methods,
        name="user_factors_methods",
        summary="Tell by what a user can sign in.",
    ),
    operation(
        "DELETE",
        f"{_USER}/totp",
        "user.write",
        user_factors.remove_totp,
        name="user_factors_remove_totp",
        summary="Take a user's authenticator app away; they are signed out everywhere, and told by"
        " mail.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/passkeys/_search",
        "user.read",
        user_passkeys.search,
        name="user_passkeys_search",
        summary="Go through a user's passkeys, a page at a time, the oldest first.",
    ),
    operation(
        "DELETE",
        f"{_USER}/passkeys/{{passkeyId}}",
        "user.write",
        user_passkeys.remove,
        name="user_passkeys_remove",
        summary="Let a passkey open nothing any more; its user is signed out everywhere, and told"
        " by mail.",
        conditional=True,
    ),
    operation(
        "POST",
        f"{_USER}/email/verify",
        "user.write",
        partial(verify_contact.verify, contact="email"),
        name="prove_contact_prove_email",
        summary="Prove a user's e-mail address by the code that was sent there.",
    ),
    operation(
        "POST",
        f"{_USER}/phone/verify",
        "user.write",
        partial(verify_contact.verify, contact="phone"),
        name="prove_contact_prove_phone",
        summary="Prove a user's phone number by the code that was sent there.",
    ),
    operation(
        "POST",
        f"{_USER}/deactivate",
        "user.write",
        partial(user_states.change, name="deactivate"),
        name="user_states_change_deactivate",
        conditional=True,
        summary="Shut a user out until they are reactivated; all that was issued to them ends.",
    ),
    operation(
        "POST",
        f"{_USER}/reactivate",
        "user.write",
        partial(user_states.change, name="reactivate"),
        name="user_states_change_reactivate",
        conditional=True,
        summary="Let a deactivated user in again.",
    ),
    operation(
        "POST",
        f"{_USER}/lock",
        "user.write",
        partial(user_states.change, name="lock"),
        name="user_states_change_lock",
        conditional=True,
        summary="Lock a user out; all that was issued to them ends.",
    ),
    operation(
        "POST",
        f"{_USER}/unlock",
        "user.write",
        user_states.unlock,
        name="user_states_unlock",
        conditional=True,
        summary="Let a locked user in again.",
    ),
    operation(
        "POST",
        f"{_MANAGED}/metadata/_search",
        "user.read",
        user_metadata.search,
        name="user_metadata_search",
        summary="Find what is kept with a user, by key, with the values: a page has about four"
        " megabytes.",
    ),
    operation(
        "GET",
        _METADATA,
        "user.read",
        user_metadata.show,
        name="user_metadata_show",
        summary="What is kept under this key.",
    ),
    operation(
        "POST",
        _METADATA,
        "user.write",
        user_metadata.put,
        name="user_metadata_put",
        summary="Keep a value under this key, in place of any other.",
        conditional=True,
    ),
    operation(
        "DELETE",
        _METADATA,
        "user.write",
        user_metadata.remove,
        name="user_metadata_remove",
        summary="Keep nothing under this key any more.",
        conditional=True,
    ),
    operation(
        "POST",
        "/management/v1/users/grants/_search",
        "user.grant.read",
        search_assignments.search,
        name="search_assignments_search",
        summary="Find the roles that users have in projects, in all organizations that the caller"
        " reaches.",
    ),
    operation(
        "GET",
        _GRANTS,
        "user.grant.read",
        role_assignments.listed,
        name="role_assignments_listed",
        summary="The roles that a user has, project by project.",
    ),
    operation(
        "POST",
        _GRANTS,
        "user.grant.write",
        role_assignments.create,
        name="role_assignments_create",
        summary="Give a user roles of a project.",
    ),
    operation(
        "PUT",
        _GRANT,
        "user.grant.write",
        role_assignments.change,
        name="role_assignments_change",
        summary="Give a user these roles of a project instead of those that they had.",
        conditional=True,
    ),
    operation(
        "DELETE",
        _GRANT,
        "user.grant.write",
        role_assignments.remove,
        name="role_assignments_remove",
        summary="Take away all roles that a user has in a project.",
        conditional=True,
    ),
)

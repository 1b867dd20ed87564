"""Operations at /v2/users: persons, and what belongs to users of any kind."""

from __future__ import annotations

from functools import partial
from typing import Final

from idp.api.operation import named_in, operation
from idp.management.connections import user_links
from idp.management.organizations import sessions as organization_sessions
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

CREATE: Final = operation(
    "POST /v2/users/human",
    "user.write",
    user_create.create,
    name="create_human_create",
    summary="Create the user that a JSON document describes (`CreateHuman`).",
    document=CreateHuman,
    large=True,
    read_ahead=user_create.read_ahead,
)
SEARCH: Final = operation(
    "POST /v2/users",
    "user.read",
    user_search.search,
    name="user_search_search",
    summary="Search for users in all organizations that the caller may read.",
)
READ: Final = operation(
    f"GET {_USER}", "user.read", user_read.read, name="read_user_read", summary="Get a user."
)
REMOVE: Final = operation(
    f"DELETE {_USER}",
    "user.write",
    user_removal.remove,
    name="user_removal_remove",
    summary="Delete a user with their memberships, roles, keys, tokens, consents and metadata;"
    " their login names become available.",
    conditional=True,
)
CHANGE: Final = operation(
    "PUT /v2/users/human/{userId}",
    "user.write",
    user_change.change,
    name="change_human_change",
    summary="Change a person's names and profile; sessions and tokens stay valid.",
    conditional=True,
)
IMPORT: Final = operation(
    "POST /management/v1/users/human/_import",
    "user.import",
    user_import_one.import_human,
    name="import_human_take",
    summary="Import a person with a password hash from another system.",
    document=ImportHuman,
)
SET_EMAIL: Final = operation(
    f"POST {_USER}/email",
    "user.write",
    contacts.set_email,
    name="contacts_set_email",
    summary="Set a person's email, to be verified unless it is sent as verified; a message"
    " goes to the previous one.",
    conditional=True,
)
RESEND_EMAIL: Final = operation(
    f"POST {_USER}/email/resend",
    "user.write",
    contacts.resend_email,
    name="contacts_resend_email",
    summary="Send a new code to verify a person's email; earlier codes are no longer valid.",
)
SET_PHONE: Final = operation(
    f"POST {_USER}/phone",
    "user.write",
    contacts.set_phone,
    name="contacts_set_phone",
    summary="Set a person's phone number, to be verified unless it is sent as verified.",
    conditional=True,
)
RESEND_PHONE: Final = operation(
    f"POST {_USER}/phone/resend",
    "user.write",
    contacts.resend_phone,
    name="contacts_resend_phone",
    summary="Send a new code to verify a phone number; earlier codes are no longer valid.",
)
REMOVE_PHONE: Final = operation(
    f"DELETE {_USER}/phone",
    "user.write",
    contacts.remove_phone,
    name="contacts_remove_phone",
    summary="Delete a person's phone number.",
    conditional=True,
)
SET_PASSWORD: Final = operation(
    f"POST {_USER}/password",
    "user.write",
    user_passwords.set_password,
    name="password_calls_set_password",
    summary=("Set a person's password; all their sessions end, and all their tokens are revoked."),
    conditional=True,
)
RESET_PASSWORD: Final = operation(
    f"POST {_USER}/password_reset",
    "user.write",
    user_passwords.reset_password,
    name="password_calls_reset_password",
    summary="Create a code that resets a person's password, which is emailed or returned;"
    " sessions stay valid until it is used.",
)
INVITE: Final = operation(
    f"POST {_USER}/invite_code",
    "user.write",
    invitations.invite,
    name="invitations_invite",
    summary="Invite a person to choose their first password, with a code that is emailed or"
    " returned.",
)
RESEND_INVITATION: Final = operation(
    f"POST {_USER}/invite_code/resend",
    "user.write",
    invitations.resend,
    name="invitations_resend",
    summary="Invite a person again; earlier codes are no longer valid.",
)
SEARCH_SESSIONS: Final = operation(
    f"POST {_USER}/sessions/_search",
    "user.read",
    user_sessions.search,
    name="user_sessions_search",
    summary="List the sessions of a user, live and recently ended.",
)
END_SESSIONS: Final = operation(
    f"POST {_USER}/sessions/_end",
    "user.write",
    user_sessions.end_all,
    name="user_sessions_end_all",
    summary="Sign a user out everywhere: sessions end, and tokens and personal access tokens"
    " are revoked.",
    conditional=True,
)
SEARCH_SESSIONS_OF_ORGANIZATION: Final = operation(
    "POST /management/v1/orgs/me/sessions/_search",
    "user.read",
    organization_sessions.search,
    name="organization_sessions_search",
    summary="List the active sessions of an organization's users.",
)
END_SESSION: Final = operation(
    f"DELETE {_USER}/sessions/{{sessionId}}",
    "user.write",
    user_sessions.end,
    name="user_sessions_end",
    summary="End a session of a user and revoke its tokens; its applications are notified.",
    conditional=True,
)
AUTHENTICATION_METHODS: Final = operation(
    f"GET {_USER}/authentication_methods",
    "user.read",
    user_factors.methods,
    name="user_factors_methods",
    summary="List the authentication methods of a user.",
)
REMOVE_TOTP: Final = operation(
    f"DELETE {_USER}/totp",
    "user.write",
    user_factors.remove_totp,
    name="user_factors_remove_totp",
    summary="Remove a user's authenticator app; they are signed out everywhere, and notified"
    " by email.",
    conditional=True,
)
SEARCH_LINKS: Final = operation(
    f"POST {_MANAGED}/idps/_search",
    "user.read",
    user_links.search,
    name="user_links_search",
    summary="Search for a user's links to identities at other providers.",
)
REMOVE_LINK: Final = operation(
    f"DELETE {_MANAGED}/idps/{{idpId}}/{{linkedUserId}}",
    "user.write",
    user_links.remove,
    name="user_links_remove",
    summary="Remove a user's link to an identity at another provider; sessions that were"
    " opened with it end.",
)
SEARCH_PASSKEYS: Final = operation(
    f"POST {_USER}/passkeys/_search",
    "user.read",
    user_passkeys.search,
    name="user_passkeys_search",
    summary="Search for passkeys of a user, the oldest first.",
)
REMOVE_PASSKEY: Final = operation(
    f"DELETE {_USER}/passkeys/{{passkeyId}}",
    "user.write",
    user_passkeys.remove,
    name="user_passkeys_remove",
    summary="Delete a passkey; its user is signed out everywhere, and notified by email.",
    conditional=True,
)
VERIFY_EMAIL: Final = operation(
    f"POST {_USER}/email/verify",
    "user.write",
    partial(verify_contact.verify, contact="email"),
    name="prove_contact_prove_email",
    summary="Verify a user's email with the code that was sent to it.",
)
VERIFY_PHONE: Final = operation(
    f"POST {_USER}/phone/verify",
    "user.write",
    partial(verify_contact.verify, contact="phone"),
    name="prove_contact_prove_phone",
    summary="Verify a user's phone number with the code that was sent to it.",
)
DEACTIVATE: Final = operation(
    f"POST {_USER}/deactivate",
    "user.write",
    partial(user_states.change, name="deactivate"),
    name="user_states_change_deactivate",
    conditional=True,
    summary="Deactivate a user until they are reactivated; their sessions end, and their"
    " tokens are revoked.",
)
REACTIVATE: Final = operation(
    f"POST {_USER}/reactivate",
    "user.write",
    partial(user_states.change, name="reactivate"),
    name="user_states_change_reactivate",
    conditional=True,
    summary="Reactivate a user.",
)
LOCK: Final = operation(
    f"POST {_USER}/lock",
    "user.write",
    partial(user_states.change, name="lock"),
    name="user_states_change_lock",
    conditional=True,
    summary="Lock a user; their sessions end, and their tokens are revoked.",
)
UNLOCK: Final = operation(
    f"POST {_USER}/unlock",
    "user.write",
    user_states.unlock,
    name="user_states_unlock",
    conditional=True,
    summary="Unlock a user.",
)
SEARCH_METADATA: Final = operation(
    f"POST {_MANAGED}/metadata/_search",
    "user.read",
    user_metadata.search,
    name="user_metadata_search",
    summary="Search for metadata of a user; a page has about 4 MB.",
)
READ_METADATA: Final = operation(
    f"GET {_METADATA}",
    "user.read",
    user_metadata.show,
    name="user_metadata_show",
    summary="Get the metadata value of a key.",
)
SET_METADATA: Final = operation(
    f"POST {_METADATA}",
    "user.write",
    user_metadata.put,
    name="user_metadata_put",
    summary="Set the metadata value of a key.",
    conditional=True,
)
REMOVE_METADATA: Final = operation(
    f"DELETE {_METADATA}",
    "user.write",
    user_metadata.remove,
    name="user_metadata_remove",
    summary="Delete the metadata value of a key.",
    conditional=True,
)
SEARCH_GRANTS: Final = operation(
    "POST /management/v1/users/grants/_search",
    "user.grant.read",
    search_assignments.search,
    name="search_assignments_search",
    summary=(
        "Search for role assignments of users in all organizations that the caller may read."
    ),
)
GRANTS: Final = operation(
    f"GET {_GRANTS}",
    "user.grant.read",
    role_assignments.find_all,
    name="role_assignments_listed",
    summary="List the roles of a user, by project.",
)
CREATE_GRANT: Final = operation(
    f"POST {_GRANTS}",
    "user.grant.write",
    role_assignments.create,
    name="role_assignments_create",
    summary="Assign roles of a project to a user.",
)
CHANGE_GRANT: Final = operation(
    f"PUT {_GRANT}",
    "user.grant.write",
    role_assignments.change,
    name="role_assignments_change",
    summary="Replace the roles that a user has in a project.",
    conditional=True,
)
REMOVE_GRANT: Final = operation(
    f"DELETE {_GRANT}",
    "user.grant.write",
    role_assignments.remove,
    name="role_assignments_remove",
    summary="Remove all roles that a user has in a project.",
    conditional=True,
)
OPERATIONS: Final = named_in(globals())

"""The actions of the console's user page: profile, contacts, password, state and sessions."""

from __future__ import annotations

import base64
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce, FirstPasswordHandler
from handlers.forms import user_fields
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp import api
from idp.api.operation import Operation
from idp.foundation.i18n import Message, message

PAGE_PATH: Final = "/users/{userId}"
METHODS_PATH: Final = f"{PAGE_PATH}/methods"
ROLES_PATH: Final = f"{PAGE_PATH}/roles"
SESSIONS_PATH: Final = f"{PAGE_PATH}/sessions"
METADATA_PATH: Final = f"{PAGE_PATH}/metadata"
SECTION: Final = "users"
REVOKES_ALL: Final = message(
    "The user is signed out everywhere, and all tokens are revoked.", context="users"
)
_GENERATE: Final = message("Generate a code", context="users")
_HOW_SENT: Final = message("How the user gets the code", context="users")
_CODE_VALUE: Final = DisplayedOnce("verificationCode", message("Code", context="users"))


class ConsoleContactHandler(ActionHandler):
    """Changes a user's contact. How it is verified is chosen in the form, and sent as the member
    of the API for that choice."""

    def request_body(self, values: Values) -> Document:
        return user_fields.with_verification(super().request_body(values))


class ConsoleCodeHandler(ActionHandler):
    """Requests a code for a new password or for verifying a contact. The code is sent to the user
    or displayed once."""

    def request_body(self, values: Values) -> Document:
        return {values["how"]: {}} if values["how"] else {}


class MetadataHandler(ActionHandler):
    """Adds a metadata entry to a user. Its key is in the operation's path, its value is sent in
    base64."""

    def request_body(self, values: Values) -> Document:
        value = str(super().request_body(values).get("value", ""))
        return {"value": base64.b64encode(value.encode()).decode()}

    def _by_name(self, ids: Any) -> dict[str, str]:
        return {**super()._by_name(ids), "key": self._key}

    # The placeholder in the displayed commands, until a key is entered.
    _key = "KEY"

    async def resolved(self, values: Values) -> Values:
        self._key = values["key"]
        return values


def _of_user(
    page: str, operation: Operation, title: Message, button: Message, **fields: Any
) -> Action:
    """Returns an action of the page of a person."""
    defaults: dict[str, Any] = {
        "section": SECTION,
        "loads": api.users.READ,
        "name": "user.username",
        "next_path": PAGE_PATH,
        "confirmation": "saved",
    }
    return Action(
        path=f"{PAGE_PATH}/{page}",
        operation=operation,
        title=title,
        button=button,
        **(defaults | fields),
    )


def _change_state(
    name: str,
    operation: Operation,
    title: Message,
    button: Message,
    confirmation: str,
    intro: Message | None = None,
) -> Action:
    """Returns an action that changes a user's state."""
    return _of_user(
        name,
        operation,
        title,
        button,
        confirmation=confirmation,
        intro=intro,
        is_dangerous=intro is not None,
        command=f"user {name} {{userId}}",
    )


def _verify(contact: str, operation: Operation, title: Message) -> Action:
    code = FormField(
        path="verificationCode",
        label=message("Code", context="users"),
        hint=message("It was sent, or shown when the address was entered.", context="users"),
        direction="ltr",
        is_required=True,
    )
    return _of_user(
        f"verify-{contact}",
        operation,
        title,
        message("Verify", context="users"),
        fields=(code,),
        confirmation="verified",
        command=f"user verify-{contact} {{userId}} --verification-code CODE",
    )


def _resend(contact: str, operation: Operation, title: Message) -> Action:
    channel = FormField(
        path="how",
        label=_HOW_SENT,
        kind="choice",
        options=user_fields.HOW_VERIFIED[:2],
        default="sendCode",
    )
    return _of_user(
        f"resend-{contact}",
        operation,
        title,
        _GENERATE,
        handler=ConsoleCodeHandler,
        fields=(channel,),
        shows=(_CODE_VALUE,),
        confirmation="sent",
        command=f"user resend-{contact} {{userId}}",
    )


_SAVE: Final = message("Save", context="console")
_HOW_RESET: Final = FormField(
    path="how",
    label=_HOW_SENT,
    kind="choice",
    options=(
        ("sendLink", message("By email to the verified address", context="users")),
        ("returnCode", message("Show me the code so that I can pass it on", context="users")),
    ),
    default="sendLink",
)
_NEW_PASSWORD: Final = (
    FormField(
        path="newPassword.password",
        label=message("New password", context="change-password"),
        kind="password",
        autocomplete="new-password",
        is_required=True,
    ),
    FormField(
        path="newPassword.changeRequired",
        label=message("The user must change it at the first sign-in", context="users"),
        kind="switch",
        default=True,
    ),
)
_METADATA: Final = (
    FormField(
        path="key", label=message("Key", context="console"), direction="ltr", is_required=True
    ),
    FormField(
        path="value", label=message("Value", context="users"), kind="free", is_required=True
    ),
)

PROFILE_ACTIONS: Final = (
    _of_user(
        "edit",
        api.users.CHANGE,
        message("Change the user", context="users"),
        _SAVE,
        fields=(
            FormField(
                path="username",
                source="user.username",
                label=message("Username", context="users"),
                direction="ltr",
                kind="name",
                is_required=True,
            ),
            *user_fields.profile("profile.", "user.human.profile."),
        ),
        command="user change {userId} --given-name FIRST",
    ),
    _of_user(
        "email",
        api.users.SET_EMAIL,
        message("Change the email", context="users"),
        _SAVE,
        handler=ConsoleContactHandler,
        fields=user_fields.contact("email", "", is_required=True, source="user.human.email.email"),
        shows=(_CODE_VALUE,),
        command="user set-email {userId} --email EMAIL",
    ),
    _of_user(
        "phone",
        api.users.SET_PHONE,
        message("Change the phone number", context="users"),
        _SAVE,
        handler=ConsoleContactHandler,
        fields=user_fields.contact("phone", "", is_required=True, source="user.human.phone.phone"),
        shows=(_CODE_VALUE,),
        command="user set-phone {userId} --phone NUMBER",
    ),
    _of_user(
        "remove-phone",
        api.users.REMOVE_PHONE,
        message("Remove the phone number", context="users"),
        message("Remove", context="console"),
        is_dangerous=True,
        confirmation="removed",
        command="user remove-phone {userId}",
    ),
    _verify("email", api.users.VERIFY_EMAIL, message("Verify the email", context="users")),
    _resend("email", api.users.RESEND_EMAIL, message("New code for the email", context="users")),
    _verify("phone", api.users.VERIFY_PHONE, message("Verify the phone number", context="users")),
    _resend(
        "phone", api.users.RESEND_PHONE, message("New code for the phone number", context="users")
    ),
    _of_user(
        "metadata/new",
        api.users.SET_METADATA,
        message("Add metadata", context="users"),
        _SAVE,
        handler=MetadataHandler,
        fields=_METADATA,
        next_path=METADATA_PATH,
        command="user set-metadata --user {userId} KEY --value FILE",
    ),
    _of_user(
        "metadata/{key}/remove",
        api.users.REMOVE_METADATA,
        message("Remove the metadata", context="users"),
        message("Remove", context="console"),
        loads=api.users.READ_METADATA,
        name="metadata.key",
        is_dangerous=True,
        confirmation="removed",
        next_path=METADATA_PATH,
        command="user remove-metadata --user {userId} {key}",
    ),
)

ACCESS_ACTIONS: Final = (
    _of_user(
        "password",
        api.users.SET_PASSWORD,
        message("Set a password", context="users"),
        _SAVE,
        intro=REVOKES_ALL,
        fields=_NEW_PASSWORD,
        handler=FirstPasswordHandler,
        command="user set-password {userId} --password-file -",
    ),
    _of_user(
        "password-reset",
        api.users.RESET_PASSWORD,
        message("Reset the password", context="users"),
        _GENERATE,
        handler=ConsoleCodeHandler,
        fields=(_HOW_RESET,),
        shows=(_CODE_VALUE,),
        confirmation="sent",
        command="user reset {userId}",
    ),
    _change_state(
        "deactivate",
        api.users.DEACTIVATE,
        message("Deactivate the user", context="users"),
        message("Deactivate", context="console"),
        "deactivated",
        REVOKES_ALL,
    ),
    _change_state(
        "reactivate",
        api.users.REACTIVATE,
        message("Reactivate the user", context="users"),
        message("Reactivate", context="console"),
        "reactivated",
    ),
    _change_state(
        "lock",
        api.users.LOCK,
        message("Lock the user", context="users"),
        message("Lock", context="users"),
        "locked",
        REVOKES_ALL,
    ),
    _change_state(
        "unlock",
        api.users.UNLOCK,
        message("Unlock the user", context="users"),
        message("Unlock", context="users"),
        "unlocked",
    ),
    _of_user(
        "end-sessions",
        api.users.END_SESSIONS,
        message("Sign out everywhere", context="users"),
        message("Sign out", context="logout"),
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="ended",
        next_path=SESSIONS_PATH,
        command="user end-sessions {userId}",
    ),
    _of_user(
        "sessions/{sessionId}/end",
        api.users.END_SESSION,
        message("End the session", context="users"),
        message("End", context="users"),
        loads=None,
        is_dangerous=True,
        confirmation="ended",
        next_path=SESSIONS_PATH,
        command="user end-session --user {userId} {sessionId}",
    ),
    _of_user(
        "totp/remove",
        api.users.REMOVE_TOTP,
        message("Remove the authenticator app", context="factor"),
        message("Remove", context="console"),
        loads=None,
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="removed",
        next_path=METHODS_PATH,
        command="user remove-totp {userId}",
    ),
    _of_user(
        "passkeys/{passkeyId}/remove",
        api.users.REMOVE_PASSKEY,
        message("Remove the passkey", context="passkey"),
        message("Remove", context="console"),
        loads=None,
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="removed",
        next_path=METHODS_PATH,
        command="user remove-passkey --user {userId} {passkeyId}",
    ),
    _of_user(
        "links/{idpId}/{linkedUserId}/remove",
        api.users.REMOVE_LINK,
        message("Unlink the account", context="users"),
        message("Unlink", context="users"),
        loads=None,
        intro=message(
            "The user can no longer sign in with it. Sessions opened with it end.", context="users"
        ),
        is_dangerous=True,
        next_path=METHODS_PATH,
        confirmation="removed",
        command="user unlink --user {userId} --idp {idpId} {linkedUserId}",
    ),
    _of_user(
        "delete",
        api.users.REMOVE,
        message("Delete the user", context="users"),
        message("Delete", context="console"),
        intro=message(
            "The user's data is deleted and all tokens are revoked. This can't be undone.",
            context="users",
        ),
        confirms=True,
        is_dangerous=True,
        next_path="/users",
        confirmation="deleted",
        command="user delete {userId}",
    ),
)

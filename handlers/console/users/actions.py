"""The actions of the console's user page: profile, contacts, password, state and sessions."""

from __future__ import annotations

import base64
from typing import Any, Final

from handlers.console.actions import Action, ActionHandler, DisplayedOnce
from handlers.forms import user_fields
from handlers.forms.fields import FormField, Values
from handlers.forms.run_operation import Document
from idp.foundation.i18n import Message, message

USER: Final = "/v2/users/{userId}"
MANAGED: Final = "/management/v1/users/{userId}"
PAGE_PATH: Final = "/users/{userId}"
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


def _of_user(page: str, operation: str, title: Message, button: Message, **fields: Any) -> Action:
    """Returns an action of the page of a person."""
    defaults: dict[str, Any] = {
        "section": SECTION,
        "loads": f"GET {USER}",
        "name": "user.preferredLoginName",
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
    name: str, title: Message, button: Message, confirmation: str, intro: Message | None = None
) -> Action:
    """Returns an action that changes a user's state."""
    return _of_user(
        name,
        f"POST {USER}/{name}",
        title,
        button,
        confirmation=confirmation,
        intro=intro,
        is_dangerous=intro is not None,
        command=f"user {name} {{userId}}",
    )


def _verify(contact: str, title: Message) -> Action:
    code = FormField(
        path="verificationCode",
        label=message("Code", context="users"),
        hint=message("It was sent, or shown when the address was entered.", context="users"),
        direction="ltr",
        is_required=True,
    )
    return _of_user(
        f"verify-{contact}",
        f"POST {USER}/{contact}/verify",
        title,
        message("Verify", context="users"),
        fields=(code,),
        confirmation="verified",
        command=f"user verify-{contact} {{userId}} --verification-code CODE",
    )


def _resend(contact: str, title: Message) -> Action:
    channel = FormField(
        path="how",
        label=_HOW_SENT,
        kind="choice",
        options=user_fields.HOW_VERIFIED[:2],
        default="sendCode",
    )
    return _of_user(
        f"resend-{contact}",
        f"POST {USER}/{contact}/resend",
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
        ("returnCode", message("Show me the code to pass on", context="users")),
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
        "PUT /v2/users/human/{userId}",
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
        f"POST {USER}/email",
        message("Change the email", context="users"),
        _SAVE,
        handler=ConsoleContactHandler,
        fields=user_fields.contact("email", "", is_required=True, source="user.human.email.email"),
        shows=(_CODE_VALUE,),
        command="user set-email {userId} --email EMAIL",
    ),
    _of_user(
        "phone",
        f"POST {USER}/phone",
        message("Change the phone number", context="users"),
        _SAVE,
        handler=ConsoleContactHandler,
        fields=user_fields.contact("phone", "", is_required=True, source="user.human.phone.phone"),
        shows=(_CODE_VALUE,),
        command="user set-phone {userId} --phone NUMBER",
    ),
    _of_user(
        "remove-phone",
        f"DELETE {USER}/phone",
        message("Remove the phone number", context="users"),
        message("Remove", context="console"),
        is_dangerous=True,
        confirmation="removed",
        command="user remove-phone {userId}",
    ),
    _verify("email", message("Verify the email", context="users")),
    _resend("email", message("New code for the email", context="users")),
    _verify("phone", message("Verify the phone number", context="users")),
    _resend("phone", message("New code for the phone number", context="users")),
    _of_user(
        "metadata/new",
        f"POST {MANAGED}/metadata/{{key}}",
        message("Add metadata", context="users"),
        _SAVE,
        handler=MetadataHandler,
        fields=_METADATA,
        command="user set-metadata --user {userId} KEY --value FILE",
    ),
    _of_user(
        "metadata/{key}/remove",
        f"DELETE {MANAGED}/metadata/{{key}}",
        message("Remove the metadata", context="users"),
        message("Remove", context="console"),
        loads=f"GET {MANAGED}/metadata/{{key}}",
        name="metadata.key",
        is_dangerous=True,
        confirmation="removed",
        command="user remove-metadata --user {userId} {key}",
    ),
)

ACCESS_ACTIONS: Final = (
    _of_user(
        "password",
        f"POST {USER}/password",
        message("Set a password", context="users"),
        _SAVE,
        intro=REVOKES_ALL,
        fields=_NEW_PASSWORD,
        command="user set-password {userId} --password-file -",
    ),
    _of_user(
        "password-reset",
        f"POST {USER}/password_reset",
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
        message("Deactivate the user", context="users"),
        message("Deactivate", context="console"),
        "deactivated",
        REVOKES_ALL,
    ),
    _change_state(
        "reactivate",
        message("Reactivate the user", context="users"),
        message("Reactivate", context="console"),
        "reactivated",
    ),
    _change_state(
        "lock",
        message("Lock the user", context="users"),
        message("Lock", context="users"),
        "locked",
        REVOKES_ALL,
    ),
    _change_state(
        "unlock",
        message("Unlock the user", context="users"),
        message("Unlock", context="users"),
        "unlocked",
    ),
    _of_user(
        "end-sessions",
        f"POST {USER}/sessions/_end",
        message("Sign out everywhere", context="users"),
        message("Sign out", context="logout"),
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="ended",
        command="user end-sessions {userId}",
    ),
    _of_user(
        "sessions/{sessionId}/end",
        f"DELETE {USER}/sessions/{{sessionId}}",
        message("End the session", context="users"),
        message("End", context="users"),
        loads=None,
        is_dangerous=True,
        confirmation="ended",
        command="user end-session --user {userId} {sessionId}",
    ),
    _of_user(
        "totp/remove",
        f"DELETE {USER}/totp",
        message("Remove the authenticator app", context="factor"),
        message("Remove", context="console"),
        loads=None,
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="removed",
        command="user remove-totp {userId}",
    ),
    _of_user(
        "passkeys/{passkeyId}/remove",
        f"DELETE {USER}/passkeys/{{passkeyId}}",
        message("Remove the passkey", context="passkey"),
        message("Remove", context="console"),
        loads=None,
        intro=REVOKES_ALL,
        is_dangerous=True,
        confirmation="removed",
        command="user remove-passkey --user {userId} {passkeyId}",
    ),
    _of_user(
        "delete",
        f"DELETE {USER}",
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

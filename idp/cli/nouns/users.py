"""`idp user` and `idp grant`: persons, and the project roles of users."""

from __future__ import annotations

from typing import Final

from idp import api
from idp.cli.building import group
from idp.cli.command import HIDDEN, Command

_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"

user = group(
    "user",
    "Users and their data.",
    [
        Command(
            "create",
            api.users.CREATE,
            "idp user create --email max@acme.example --given-name Max --family-name Muster"
            " --password-file -",
            names={
                "username": "user-name",
                "userId": "user-id",
                "email.email": "email",
                "email.isVerified": "email-verified",
                "email.sendCode.urlTemplate": "email-url-template",
                "email.returnCode": "email-return-code",
                "phone.phone": "phone",
                "phone.isVerified": "phone-verified",
                "phone.sendCode": "phone-send-code",
                "phone.returnCode": "phone-return-code",
                "password.password": "password",
                "password.changeRequired": "change-password",
                "hashedPassword.hash": "hash",
                "hashedPassword.changeRequired": "change-hash",
                "organization.orgId": "in-org",
                "organization.orgDomain": "in-domain",
                "idpLinks": "idp-link",
                "address.": "address",
                "profile.profile": "profile-page",
            },
            summary="Create a person.",
        ),
        Command(
            "list",
            api.users.SEARCH,
            "idp user list --user-name 'an*' --state active",
            columns=("userId", "username", "state", "human.profile.displayName"),
            summary="Search for users; without a filter, list all.",
        ),
        Command("show", api.users.READ, f"idp user show {_ID}", summary="Show a user."),
        Command(
            "import",
            api.users.IMPORT,
            "idp user import --user-name max --first-name Max --last-name Muster --email"
            " max@acme.example --email-verified --hash-file hash",
            names={
                "email.email": "email",
                "email.isEmailVerified": "email-verified",
                "phone.phone": "phone",
                "phone.isPhoneVerified": "phone-verified",
                "hashedPassword.value": "hash",
                "passwordChangeRequired": "change-password",
                "requestPasswordlessRegistration": HIDDEN,
                "otpCode": HIDDEN,
                "idps": "idp-link",
                "profile.profile": "profile-page",
            },
        ),
        Command(
            "change",
            api.users.CHANGE,
            f"idp user change {_ID} --family-name Miller",
            names={
                "username": "user-name",
                "profile.profile": "profile-page",
                "address.": "address",
            },
        ),
        Command(
            "delete",
            api.users.REMOVE,
            f"idp user delete {_ID}",
            confirm="Permanently delete the user {} with all their data?",
        ),
        Command(
            "set-email",
            api.users.SET_EMAIL,
            f"idp user set-email {_ID} --email max@acme.example --verified",
            names={"sendCode.urlTemplate": "url-template"},
        ),
        Command("resend-email", api.users.RESEND_EMAIL, f"idp user resend-email {_ID}"),
        Command(
            "set-phone",
            api.users.SET_PHONE,
            f"idp user set-phone {_ID} --phone +41791234567 --verified",
        ),
        Command("resend-phone", api.users.RESEND_PHONE, f"idp user resend-phone {_ID}"),
        Command(
            "remove-phone",
            api.users.REMOVE_PHONE,
            f"idp user remove-phone {_ID}",
            confirm="Remove the phone number of the user {}?",
        ),
        Command(
            "set-password",
            api.users.SET_PASSWORD,
            f"idp user set-password {_ID} --password-file - --change-required",
            names={"newPassword.password": "password", "currentPassword": "current-password"},
        ),
        Command("reset", api.users.RESET_PASSWORD, f"idp user reset {_ID} --return-code"),
        Command("invite", api.users.INVITE, f"idp user invite {_ID}"),
        Command("resend-invite", api.users.RESEND_INVITATION, f"idp user resend-invite {_ID}"),
        Command(
            "sessions",
            api.users.SEARCH_SESSIONS,
            f"idp user sessions {_ID}",
            summary="Search for sessions of a user.",
        ),
        Command(
            "end-sessions",
            api.users.END_SESSIONS,
            f"idp user end-sessions {_ID}",
            confirm="Sign the user {} out everywhere?",
        ),
        Command(
            "end-session",
            api.users.END_SESSION,
            f"idp user end-session --user {_ID} 8sKq0Lw2",
            confirm="End this session of the user {}?",
        ),
        Command(
            "authentication-methods",
            api.users.AUTHENTICATION_METHODS,
            f"idp user authentication-methods {_ID}",
        ),
        Command(
            "remove-totp",
            api.users.REMOVE_TOTP,
            f"idp user remove-totp {_ID}",
            confirm="Remove the authenticator app of the user {}, and sign them out everywhere?",
        ),
        Command(
            "passkeys",
            api.users.SEARCH_PASSKEYS,
            f"idp user passkeys {_ID}",
            summary="Search for passkeys of a user.",
        ),
        Command(
            "remove-passkey",
            api.users.REMOVE_PASSKEY,
            f"idp user remove-passkey --user {_ID} 9f86d081884c7d65",
            confirm="Remove this passkey of the user {}, and sign them out everywhere?",
        ),
        Command(
            "links",
            api.users.SEARCH_LINKS,
            f"idp user links {_ID}",
            columns=("idpId", "providedUserId", "providedUserName"),
            summary="Search for a user's links to identities at other providers.",
        ),
        Command(
            "unlink",
            api.users.REMOVE_LINK,
            f"idp user unlink --user {_ID} --idp 7mWq2Zx4 248289761001",
            confirm="Remove the link of the user {} to this identity?",
        ),
        Command(
            "memberships",
            api.organizations.SEARCH_MEMBERSHIPS,
            f"idp user memberships {_ID}",
            summary="Search for memberships of a user.",
        ),
        Command(
            "verify-email",
            api.users.VERIFY_EMAIL,
            f"idp user verify-email {_ID} --verification-code 4WQ9ZK",
        ),
        Command(
            "verify-phone",
            api.users.VERIFY_PHONE,
            f"idp user verify-phone {_ID} --verification-code 4WQ9ZK",
        ),
        Command(
            "deactivate",
            api.users.DEACTIVATE,
            f"idp user deactivate {_ID} --yes",
            confirm="Deactivate the user {}? Their sessions end, and their tokens are revoked.",
        ),
        Command("reactivate", api.users.REACTIVATE, f"idp user reactivate {_ID}"),
        Command(
            "lock",
            api.users.LOCK,
            f"idp user lock {_ID} --yes",
            confirm="Lock the user {}? Their sessions end, and their tokens are revoked.",
        ),
        Command("unlock", api.users.UNLOCK, f"idp user unlock {_ID}"),
        Command(
            "get-metadata", api.users.READ_METADATA, f"idp user get-metadata --user {_ID} shoes"
        ),
        Command(
            "metadata",
            api.users.SEARCH_METADATA,
            f"idp user metadata {_ID}",
            columns=("key", "value"),
            summary="Search for metadata of a user.",
        ),
        Command(
            "set-metadata",
            api.users.SET_METADATA,
            f"idp user set-metadata --user {_ID} shoes --value red.txt",
        ),
        Command(
            "remove-metadata",
            api.users.REMOVE_METADATA,
            f"idp user remove-metadata --user {_ID} shoes",
            confirm="Delete the metadata of the user {} under the key {}?",
        ),
    ],
)

grant = group(
    "grant",
    "The project roles of users.",
    [
        Command(
            "create",
            api.users.CREATE_GRANT,
            f"idp grant create --user {_ID} --project 8sKq0Lw2 --role-key buyer",
            names={"projectId": "project"},
        ),
        Command(
            "list",
            api.users.GRANTS,
            f"idp grant list --user {_ID}",
            columns=("id", "projectId", "roleKeys", "state"),
        ),
        Command(
            "search",
            api.users.SEARCH_GRANTS,
            "idp grant search --project-id 8sKq0Lw2",
            summary="Search for role assignments of users.",
        ),
        Command(
            "change",
            api.users.CHANGE_GRANT,
            f"idp grant change --user {_ID} 7fQm2Xb1 --role-key seller",
        ),
        Command(
            "delete",
            api.users.REMOVE_GRANT,
            f"idp grant delete --user {_ID} 7fQm2Xb1",
            confirm="Remove all roles of the user {} in the grant {}?",
        ),
    ],
)

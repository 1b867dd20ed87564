"""`idp user` and `idp grant`: persons, and the project roles of users."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import HIDDEN, command

_USER: Final = "/v2/users/{userId}"
_HUMAN: Final = "/v2/users/human/{userId}"
_MANAGED: Final = "/management/v1/users/{userId}"
_GRANTS: Final = f"{_MANAGED}/grants"
_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"

user = group(
    "user",
    "Users and their data.",
    [
        command(
            "create",
            "POST /v2/users/human",
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
        command(
            "list",
            "POST /v2/users",
            "idp user list --user-name 'an*' --state active",
            columns=("userId", "username", "state", "human.profile.displayName"),
            summary="Search for users; without a filter, list all.",
        ),
        command("show", f"GET {_USER}", f"idp user show {_ID}", summary="Show a user."),
        command(
            "import",
            "POST /management/v1/users/human/_import",
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
        command(
            "change",
            f"PUT {_HUMAN}",
            f"idp user change {_ID} --family-name Miller",
            names={
                "username": "user-name",
                "profile.profile": "profile-page",
                "address.": "address",
            },
        ),
        command(
            "delete",
            f"DELETE {_USER}",
            f"idp user delete {_ID}",
            confirm="Permanently delete the user {} with all their data?",
        ),
        command(
            "set-email",
            f"POST {_USER}/email",
            f"idp user set-email {_ID} --email max@acme.example --verified",
            names={"sendCode.urlTemplate": "url-template"},
        ),
        command("resend-email", f"POST {_USER}/email/resend", f"idp user resend-email {_ID}"),
        command(
            "set-phone",
            f"POST {_USER}/phone",
            f"idp user set-phone {_ID} --phone +41791234567 --verified",
        ),
        command("resend-phone", f"POST {_USER}/phone/resend", f"idp user resend-phone {_ID}"),
        command(
            "remove-phone",
            f"DELETE {_USER}/phone",
            f"idp user remove-phone {_ID}",
            confirm="Remove the phone number of the user {}?",
        ),
        command(
            "set-password",
            f"POST {_USER}/password",
            f"idp user set-password {_ID} --password-file - --change-required",
            names={"newPassword.password": "password", "currentPassword": "current-password"},
        ),
        command(
            "reset",
            f"POST {_USER}/password_reset",
            f"idp user reset {_ID} --return-code",
        ),
        command("invite", f"POST {_USER}/invite_code", f"idp user invite {_ID}"),
        command(
            "resend-invite",
            f"POST {_USER}/invite_code/resend",
            f"idp user resend-invite {_ID}",
        ),
        command(
            "sessions",
            f"POST {_USER}/sessions/_search",
            f"idp user sessions {_ID}",
            summary="Search for sessions of a user.",
        ),
        command(
            "end-sessions",
            f"POST {_USER}/sessions/_end",
            f"idp user end-sessions {_ID}",
            confirm="Sign the user {} out everywhere?",
        ),
        command(
            "end-session",
            f"DELETE {_USER}/sessions/{{sessionId}}",
            f"idp user end-session --user {_ID} 8sKq0Lw2",
            confirm="End this session of the user {}?",
        ),
        command(
            "authentication-methods",
            f"GET {_USER}/authentication_methods",
            f"idp user authentication-methods {_ID}",
        ),
        command(
            "remove-totp",
            f"DELETE {_USER}/totp",
            f"idp user remove-totp {_ID}",
            confirm="Remove the authenticator app of the user {}, and sign them out everywhere?",
        ),
        command(
            "passkeys",
            f"POST {_USER}/passkeys/_search",
            f"idp user passkeys {_ID}",
            summary="Search for passkeys of a user.",
        ),
        command(
            "remove-passkey",
            f"DELETE {_USER}/passkeys/{{passkeyId}}",
            f"idp user remove-passkey --user {_ID} 9f86d081884c7d65",
            confirm="Remove this passkey of the user {}, and sign them out everywhere?",
        ),
        command(
            "links",
            f"POST {_MANAGED}/idps/_search",
            f"idp user links {_ID}",
            columns=("idpId", "providedUserId", "providedUserName"),
            summary="Search for a user's links to identities at other providers.",
        ),
        command(
            "unlink",
            f"DELETE {_MANAGED}/idps/{{idpId}}/{{linkedUserId}}",
            f"idp user unlink --user {_ID} --idp 7mWq2Zx4 248289761001",
            confirm="Remove the link of the user {} to this identity?",
        ),
        command(
            "memberships",
            f"POST {_MANAGED}/memberships/_search",
            f"idp user memberships {_ID}",
            summary="Search for memberships of a user.",
        ),
        command(
            "verify-email",
            f"POST {_USER}/email/verify",
            f"idp user verify-email {_ID} --verification-code 4WQ9ZK",
        ),
        command(
            "verify-phone",
            f"POST {_USER}/phone/verify",
            f"idp user verify-phone {_ID} --verification-code 4WQ9ZK",
        ),
        command(
            "deactivate",
            f"POST {_USER}/deactivate",
            f"idp user deactivate {_ID} --yes",
            confirm="Deactivate the user {}? Their sessions end, and their tokens are revoked.",
        ),
        command("reactivate", f"POST {_USER}/reactivate", f"idp user reactivate {_ID}"),
        command(
            "lock",
            f"POST {_USER}/lock",
            f"idp user lock {_ID} --yes",
            confirm="Lock the user {}? Their sessions end, and their tokens are revoked.",
        ),
        command("unlock", f"POST {_USER}/unlock", f"idp user unlock {_ID}"),
        command(
            "get-metadata",
            f"GET {_MANAGED}/metadata/{{key}}",
            f"idp user get-metadata --user {_ID} shoes",
        ),
        command(
            "metadata",
            f"POST {_MANAGED}/metadata/_search",
            f"idp user metadata {_ID}",
            columns=("key", "value"),
            summary="Search for metadata of a user.",
        ),
        command(
            "set-metadata",
            f"POST {_MANAGED}/metadata/{{key}}",
            f"idp user set-metadata --user {_ID} shoes --value red.txt",
        ),
        command(
            "remove-metadata",
            f"DELETE {_MANAGED}/metadata/{{key}}",
            f"idp user remove-metadata --user {_ID} shoes",
            confirm="Delete the metadata of the user {} under the key {}?",
        ),
    ],
)

grant = group(
    "grant",
    "The project roles of users.",
    [
        command(
            "create",
            f"POST {_GRANTS}",
            f"idp grant create --user {_ID} --project 8sKq0Lw2 --role-key buyer",
            names={"projectId": "project"},
        ),
        command(
            "list",
            f"GET {_GRANTS}",
            f"idp grant list --user {_ID}",
            columns=("id", "projectId", "roleKeys", "state"),
        ),
        command(
            "search",
            "POST /management/v1/users/grants/_search",
            "idp grant search --project-id 8sKq0Lw2",
            summary="Search for role assignments of users.",
        ),
        command(
            "change",
            f"PUT {_GRANTS}/{{grantId}}",
            f"idp grant change --user {_ID} 7fQm2Xb1 --role-key seller",
        ),
        command(
            "delete",
            f"DELETE {_GRANTS}/{{grantId}}",
            f"idp grant delete --user {_ID} 7fQm2Xb1",
            confirm="Remove all roles of the user {} in the grant {}?",
        ),
    ],
)

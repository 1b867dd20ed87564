"""`idp user` and `idp grant`."""

from __future__ import annotations

from typing import Final

from idp.cli.command import command, group

_USER: Final = "/v2/users/{userId}"
_MANAGED: Final = "/management/v1/users/{userId}"
_GRANTS: Final = f"{_MANAGED}/grants"
_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"

user = group(
    "user",
    "People, and whatever is kept with a user.",
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
        command("show", f"GET {_USER}", f"idp user show {_ID}", summary="Show a user."),
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
            asks="Shut the user {} out? All that was issued to them ends.",
        ),
        command("reactivate", f"POST {_USER}/reactivate", f"idp user reactivate {_ID}"),
        command(
            "lock",
            f"POST {_USER}/lock",
            f"idp user lock {_ID} --yes",
            asks="Lock the user {} out? All that was issued to them ends.",
        ),
        command("unlock", f"POST {_USER}/unlock", f"idp user unlock {_ID}"),
        command(
            "get-metadata",
            f"GET {_MANAGED}/metadata/{{key}}",
            f"idp user get-metadata --user {_ID} shoes",
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
            asks="Forget what is kept for the user {} under {}?",
        ),
    ],
)

grant = group(
    "grant",
    "The roles of projects that users have.",
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
            "change",
            f"PUT {_GRANTS}/{{grantId}}",
            f"idp grant change --user {_ID} 7fQm2Xb1 --role-key seller",
        ),
        command(
            "delete",
            f"DELETE {_GRANTS}/{{grantId}}",
            f"idp grant delete --user {_ID} 7fQm2Xb1",
            asks="Take from the user {} all roles of the grant {}?",
        ),
    ],
)

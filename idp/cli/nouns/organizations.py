"""`idp org` and `idp member`."""

from __future__ import annotations

from typing import Final

from idp.cli.command import command, group

_MEMBERS: Final = "/management/v1/orgs/me/members"
_INSTANCE: Final = "/admin/v1/members"

org = group(
    "org",
    "Organizations.",
    [
        command(
            "create",
            "POST /admin/v1/orgs/_setup",
            "idp org create --name Acme --owner-user-name anna --owner-email anna@acme.example"
            " --owner-first-name Anna --owner-last-name Owner --owner-password-file -",
            names={"org.name": "name", "org.domain": "domain", "human.": "owner", "roles": "role"},
            summary="Make an organization, its owner and their membership, all or nothing.",
        ),
    ],
)

member = group(
    "member",
    "Who manages an organization, or the instance.",
    [
        command(
            "add",
            {"": f"POST {_MEMBERS}", "instance": f"POST {_INSTANCE}"},
            "idp member add --user 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER",
            names={"userId": "user"},
            summary="Let a user manage the organization, or with --instance everything.",
        ),
        command(
            "set-roles",
            {"": f"PUT {_MEMBERS}/{{userId}}", "instance": f"PUT {_INSTANCE}/{{userId}}"},
            "idp member set-roles 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER_VIEWER",
            summary="Let a member manage in these roles, and in no others.",
        ),
        command(
            "remove",
            {"": f"DELETE {_MEMBERS}/{{userId}}", "instance": f"DELETE {_INSTANCE}/{{userId}}"},
            "idp member remove 5xTpVw0mJqk3Yb9cD2eF1g",
            asks="Let the member {} manage no more?",
            summary="Let a member manage the organization, or with --instance the rest, no more.",
        ),
    ],
)

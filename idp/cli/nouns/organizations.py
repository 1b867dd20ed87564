"""`idp org`, `idp domain` and `idp member`: organizations, their domains and their managers."""

from __future__ import annotations

from typing import Final

from idp.cli.building import group
from idp.cli.command import command

_ORGS: Final = "/management/v1/orgs"
_OWN: Final = f"{_ORGS}/me"
_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"
_MEMBERS: Final = "/management/v1/orgs/me/members"
_INSTANCE: Final = "/admin/v1/members"

_DOMAIN: Final = f"{_OWN}/domains/{{domain}}"

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
            summary="Create an organization, its owner and their membership, all or nothing.",
        ),
        command(
            "create-empty",
            f"POST {_ORGS}",
            "idp org create-empty --name Acme --get id",
        ),
        command(
            "list",
            "POST /v2/organizations/_search",
            "idp org list --name 'ac*'",
            columns=("id", "name", "primaryDomain", "state"),
            summary="Search for organizations; without a filter, list all.",
        ),
        command(
            "show",
            "GET /admin/v1/orgs/{orgId}",
            f"idp org show {_ID}",
            summary="Show an organization.",
        ),
        command(
            "rename",
            f"PUT {_OWN}",
            f"idp org rename --org {_ID} --name Acorn",
        ),
        command(
            "deactivate",
            f"POST {_OWN}/_deactivate",
            f"idp org deactivate --org {_ID}",
            confirm="Deactivate the organization? Its users can't sign in, and all sessions end.",
        ),
        command("reactivate", f"POST {_OWN}/_reactivate", f"idp org reactivate --org {_ID}"),
        command(
            "sessions",
            f"POST {_OWN}/sessions/_search",
            f"idp org sessions --org {_ID}",
            columns=("id", "userId", "displayName", "browser", "system", "lastUsedDate"),
            summary="Find the active sessions of an organization's users.",
        ),
        command(
            "delete",
            "DELETE /admin/v1/orgs/{orgId}",
            f"idp org delete {_ID}",
            confirm="Permanently delete the organization {} with its contents?",
        ),
    ],
)

domain = group(
    "domain",
    "The domains of an organization.",
    [
        command(
            "add", f"POST {_OWN}/domains", f"idp domain add --org {_ID} --domain acme.example"
        ),
        command(
            "list",
            f"POST {_OWN}/domains/_search",
            f"idp domain list --org {_ID}",
            columns=("domainName", "isVerified", "isPrimary"),
            summary="Search for domains of an organization.",
        ),
        command(
            "challenge",
            f"POST {_DOMAIN}/validation/_generate",
            f"idp domain challenge --org {_ID} acme.example --type dns",
            summary="Generate the token that verifies a domain, and show where to publish it.",
        ),
        command(
            "verify", f"POST {_DOMAIN}/validation/_validate", "idp domain verify acme.example"
        ),
        command(
            "set-primary", f"POST {_DOMAIN}/_set_primary", "idp domain set-primary acme.example"
        ),
        command(
            "remove",
            f"DELETE {_DOMAIN}",
            "idp domain remove acme.example",
            confirm="Remove the domain {}?",
        ),
    ],
)

member = group(
    "member",
    "The managers of an organization or of the instance.",
    [
        command(
            "add",
            {"": f"POST {_MEMBERS}", "instance": f"POST {_INSTANCE}"},
            "idp member add --user 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER",
            names={"userId": "user"},
            summary="Add a member to the organization, or with --instance to the instance.",
        ),
        command(
            "list",
            {"": f"POST {_MEMBERS}/_search", "instance": f"POST {_INSTANCE}/_search"},
            "idp member list",
            columns=("userId", "preferredLoginName", "roles", "displayName"),
            summary="Search for members of an organization, or with --instance of the instance.",
        ),
        command(
            "roles",
            {"": f"POST {_MEMBERS}/roles/_search", "instance": f"POST {_INSTANCE}/roles/_search"},
            "idp member roles",
            summary="List the roles that members can have.",
        ),
        command(
            "set-roles",
            {"": f"PUT {_MEMBERS}/{{userId}}", "instance": f"PUT {_INSTANCE}/{{userId}}"},
            "idp member set-roles 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER_VIEWER",
            summary="Replace the roles of a member.",
        ),
        command(
            "remove",
            {"": f"DELETE {_MEMBERS}/{{userId}}", "instance": f"DELETE {_INSTANCE}/{{userId}}"},
            "idp member remove 5xTpVw0mJqk3Yb9cD2eF1g",
            confirm="Remove the member {}?",
            summary="Remove a member from the organization, or with --instance from the instance.",
        ),
    ],
)

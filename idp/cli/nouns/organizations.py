"""`idp org`, `idp domain` and `idp member`: organizations, their domains and their managers."""

from __future__ import annotations

from typing import Final

from idp import api
from idp.cli.building import group
from idp.cli.command import Command, with_instance

_ID: Final = "5xTpVw0mJqk3Yb9cD2eF1g"


org = group(
    "org",
    "Organizations.",
    [
        Command(
            "create",
            api.organizations.SET_UP,
            "idp org create --name Acme --owner-user-name anna --owner-email anna@acme.example"
            " --owner-first-name Anna --owner-last-name Owner --owner-password-file -",
            names={"org.name": "name", "org.domain": "domain", "human.": "owner", "roles": "role"},
            summary="Create an organization, its owner and their membership, all or nothing.",
        ),
        Command(
            "create-empty", api.organizations.CREATE, "idp org create-empty --name Acme --get id"
        ),
        Command(
            "list",
            api.organizations.SEARCH,
            "idp org list --name 'ac*'",
            columns=("id", "name", "primaryDomain", "state"),
            summary="Search for organizations; without a filter, list all.",
        ),
        Command(
            "show",
            api.organizations.READ_ANY,
            f"idp org show {_ID}",
            summary="Show an organization.",
        ),
        Command("rename", api.organizations.RENAME, f"idp org rename --org {_ID} --name Acorn"),
        Command(
            "deactivate",
            api.organizations.DEACTIVATE,
            f"idp org deactivate --org {_ID}",
            confirm="Deactivate the organization? Its users can't sign in, and all sessions end.",
        ),
        Command("reactivate", api.organizations.REACTIVATE, f"idp org reactivate --org {_ID}"),
        Command(
            "sessions",
            api.users.SEARCH_SESSIONS_OF_ORGANIZATION,
            f"idp org sessions --org {_ID}",
            columns=("id", "userId", "displayName", "browser", "system", "lastUsedDate"),
            summary="Find the active sessions of an organization's users.",
        ),
        Command(
            "delete",
            api.organizations.REMOVE_ANY,
            f"idp org delete {_ID}",
            confirm="Permanently delete the organization {} with its contents?",
        ),
    ],
)

domain = group(
    "domain",
    "The domains of an organization.",
    [
        Command(
            "add",
            api.organizations.ADD_DOMAIN,
            f"idp domain add --org {_ID} --domain acme.example",
        ),
        Command(
            "list",
            api.organizations.SEARCH_DOMAINS,
            f"idp domain list --org {_ID}",
            columns=("domainName", "isVerified", "isPrimary"),
            summary="Search for domains of an organization.",
        ),
        Command(
            "challenge",
            api.organizations.CHALLENGE_DOMAIN,
            f"idp domain challenge --org {_ID} acme.example --type dns",
            summary="Generate the token that verifies a domain, and show where to publish it.",
        ),
        Command("verify", api.organizations.VERIFY_DOMAIN, "idp domain verify acme.example"),
        Command(
            "set-primary",
            api.organizations.SET_PRIMARY_DOMAIN,
            "idp domain set-primary acme.example",
        ),
        Command(
            "remove",
            api.organizations.REMOVE_DOMAIN,
            "idp domain remove acme.example",
            confirm="Remove the domain {}?",
        ),
    ],
)

member = group(
    "member",
    "The managers of an organization or of the instance.",
    [
        Command(
            "add",
            with_instance(api.organizations.ADD_MEMBER, api.instance.ADD_MEMBER),
            "idp member add --user 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER",
            names={"userId": "user"},
            summary="Add a member to the organization, or with --instance to the instance.",
        ),
        Command(
            "list",
            with_instance(api.organizations.SEARCH_MEMBERS, api.instance.SEARCH_MEMBERS),
            "idp member list",
            columns=("userId", "preferredLoginName", "roles", "displayName"),
            summary="Search for members of an organization, or with --instance of the instance.",
        ),
        Command(
            "roles",
            with_instance(api.organizations.MEMBER_ROLES, api.instance.MEMBER_ROLES),
            "idp member roles",
            summary="List the roles that members can have.",
        ),
        Command(
            "set-roles",
            with_instance(api.organizations.CHANGE_MEMBER, api.instance.CHANGE_MEMBER),
            "idp member set-roles 5xTpVw0mJqk3Yb9cD2eF1g --role ORG_OWNER_VIEWER",
            summary="Replace the roles of a member.",
        ),
        Command(
            "remove",
            with_instance(api.organizations.REMOVE_MEMBER, api.instance.REMOVE_MEMBER),
            "idp member remove 5xTpVw0mJqk3Yb9cD2eF1g",
            confirm="Remove the member {}?",
            summary="Remove a member from the organization, or with --instance from the instance.",
        ),
    ],
)

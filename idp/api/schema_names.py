"""The names under which structs are published in the description of the management API.

Clients are generated from these names, so a name never changes: a class that is renamed gets a
line here with the name that it had.
"""

from __future__ import annotations

from typing import Any, Final

# The class by its module, and the name of its schema where that is not the name of the class.
PUBLISHED_NAMES: Final = {
    "idp.background.calls.ScheduledJobView": "idp.background.JobView",
    "idp.background.calls.ScheduledJobs": "Jobs",
    "idp.management.instance.keys.SigningKeyView": "idp.instance_keys.KeyView",
    "idp.management.instance.keys.SigningKeys": "idp.instance_keys.Keys",
    "idp.management.instance.outbox.MessageQuery": "LetterQuery",
    "idp.management.instance.outbox.MessageSearch": "LetterSearch",
    "idp.management.instance.outbox.MessageStateQuery": "letters.StateQuery",
    "idp.management.instance.outbox.MessageUserIdQuery": "letters.UserIdQuery",
    "idp.management.instance.outbox.MessageView": "LetterView",
    "idp.management.instance.outbox.MessagesFound": "LettersFound",
    "idp.management.organizations.changes.NewOrganization": "org_changes.NewOrganization",
    "idp.management.organizations.domains.DomainQuery": "domain_calls.DomainQuery",
    "idp.management.organizations.member_search.MemberRoles": "idp.identity.member_search.Roles",
    "idp.management.organizations.member_search.MemberUserIdQuery": "member_search.UserIdQuery",
    "idp.management.organizations.read.OrganizationDomainQuery": "read_organization.DomainQuery",
    "idp.management.organizations.read.OrganizationNameQuery": "read_organization.NameQuery",
    "idp.management.organizations.read.OrganizationStateQuery": "read_organization.StateQuery",
    "idp.management.organizations.setup.AdministratorEmail": "org_setup.NewEmail",
    "idp.management.organizations.setup.AdministratorPhone": "org_setup.NewPhone",
    "idp.management.organizations.setup.AdministratorProfile": "org_setup.NewProfile",
    "idp.management.organizations.setup.SetUpOrganization": "org_setup.NewOrganization",
    "idp.management.projects.app_secrets.AppSecretGenerated": "idp.clients.app_secrets.SecretGenerated",
    "idp.management.projects.registered_keys.RegisteredKeyView": "idp.clients.registered_keys.KeyView",
    "idp.management.projects.registered_keys.RegisteredKeys": "idp.clients.registered_keys.Keys",
    "idp.management.projects.roles.ProjectRoles": "idp.clients.roles.Roles",
    "idp.management.projects.search_assignments.AssignmentUserIdQuery": "search_assignments.UserIdQuery",
    "idp.management.projects.search_projects.ProjectNameQuery": "search_projects.NameQuery",
    "idp.management.users.import_one.HumanImported": "idp.identity.import_human.Imported",
    "idp.management.users.new_user.MetadataEntry": "Entry",
    "idp.management.users.new_user.NewEmail": "new_user_requests.NewEmail",
    "idp.management.users.new_user.NewIdpLink": "Link",
    "idp.management.users.new_user.NewPhone": "new_user_requests.NewPhone",
    "idp.management.users.new_user.NewProfile": "new_user_requests.NewProfile",
    "idp.management.users.new_user.OrganizationReference": "Organization",
    "idp.management.users.search.UserStateQuery": "user_search.StateQuery",
    "idp.management.users.service_users.UserSecretGenerated": "idp.identity.service_users.SecretGenerated",
    "idp.management.users.verify_contact.ContactVerified": "Proven",
    "idp.management.users.verify_contact.VerificationCode": "Code",
    "idp.transfer.bucket.location.GcsLocation": "Place",
    "idp.transfer.calls.exports.ExportOutput": "Output",
    "idp.transfer.calls.import_answer.Imported": "idp.transfer.import_answer.Imported",
    "idp.transfer.calls.jobs.JobStateQuery": "job_calls.StateQuery",
    "idp.transfer.jobs.view.JobView": "idp.transfer.standing.JobView",
}


def published_name(kind: type[Any]) -> str:
    """Returns the name under which the schema of a struct is published."""
    return PUBLISHED_NAMES.get(f"{kind.__module__}.{kind.__qualname__}", kind.__qualname__)

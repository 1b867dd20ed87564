"""Bodies for organizations and their members, and what such calls use up."""

from __future__ import annotations

from idp.identity.users import org_domains
from idp.records import DELETED_ORGANIZATIONS, ORGANIZATIONS
from storage import Delete, Update

FULL_ORGANIZATION = {
    "org": {"name": "Acme {n}", "domain": "acme-{n}.example"},
    "human": {
        "userName": "anna-{n}",
        "profile": {
            "firstName": "Anna",
            "lastName": "Owner",
            "nickName": "Ann",
            "displayName": "Anna O.",
            "preferredLanguage": "de",
            "gender": "GENDER_FEMALE",
            "middleName": "M.",
            "profile": "https://anna.example/",
            "picture": "https://anna.example/me.png",
            "website": "https://anna.example/blog",
            "birthdate": "1990-01-31",
            "zoneinfo": "Europe/Vienna",
        },
        "email": {"email": "anna-{n}@acme.example", "isEmailVerified": True},
        "phone": {"phone": "+41791234567", "isPhoneVerified": True},
        "password": "horse staple battery",
    },
    "roles": ["ORG_OWNER"],
}
FULL_PAGE = {"limit": 10, "asc": True, "cursor": "", "offset": 0}
MEMBER_SEARCH = {"query": FULL_PAGE, "queries": [{"userIdQuery": {"userId": "{member}"}}]}
FULL_SEARCH = {
    "query": FULL_PAGE,
    "queries": [
        {"nameQuery": {"name": "own", "method": "TEXT_QUERY_METHOD_STARTS_WITH"}},
        {"domainQuery": {"domain": "own.example", "method": "TEXT_QUERY_METHOD_EQUALS"}},
        {"stateQuery": {"state": "ORG_STATE_ACTIVE"}},
        {"idQuery": {"id": "own"}},
    ],
}
BODIES = {
    "POST /admin/v1/orgs/_setup": (FULL_ORGANIZATION,),
    "POST /management/v1/orgs": ({"name": "Made {n}"},),
    "PUT /management/v1/orgs/me": ({"name": "Renamed {n}"},),
    "POST /v2/organizations/_search": (FULL_SEARCH,),
    "POST /admin/v1/orgs/_search": (FULL_SEARCH,),
    "POST /management/v1/orgs/me/domains": ({"domain": "made-{n}.example"},),
    "POST /management/v1/orgs/me/domains/_search": (
        {
            "query": FULL_PAGE,
            "queries": [
                {"domainNameQuery": {"name": "own", "method": "TEXT_QUERY_METHOD_STARTS_WITH"}}
            ],
        },
    ),
    "POST /management/v1/orgs/me/domains/{domain}/validation/_generate": (
        {"type": "DOMAIN_VALIDATION_TYPE_DNS"},
    ),
    "POST /management/v1/orgs/me/members/_search": (MEMBER_SEARCH,),
    "POST /admin/v1/members/_search": (MEMBER_SEARCH,),
    "POST /management/v1/users/{userId}/memberships/_search": (
        {"query": FULL_PAGE, "queries": [{"orgQuery": {"orgId": "own"}}]},
        {"queries": [{"iamQuery": {"iam": True}}]},
    ),
    "POST /management/v1/orgs/me/members": ({"userId": "{member}", "roles": ["ORG_OWNER"]},),
    "PUT /management/v1/orgs/me/members/{userId}": ({"roles": ["ORG_OWNER"]},),
}


async def new_member(world):
    return {"userId": await world.new_member("/management/v1/orgs/me/members", "ORG_OWNER_VIEWER")}


async def any_organization(world):
    """The world's own organization in its initial state."""
    service, own = world.server.service, world.own
    if await service.store.get(ORGANIZATIONS, own.id) is None:
        made = org_domains.insertion(service, own, "a test", own.created_at)
        await service.store.commit(*made, Delete(DELETED_ORGANIZATIONS, own.id))
    as_it_was = {"state": own.state, "stamp": own.stamp}
    await service.store.commit(Update(ORGANIZATIONS, own.id, set=as_it_was))
    return {"orgId": own.id}


async def new_domain(world):
    name = world.new_name("named") + ".example"
    await world.made("/management/v1/orgs/me/domains", None, domain=name)
    return {"domain": name}


async def proven_domain(world):
    """A domain whose token would be found."""
    named = await new_domain(world)
    token = await world.made(
        f"/management/v1/orgs/me/domains/{named['domain']}/validation/_generate",
        "token",
        type="DOMAIN_VALIDATION_TYPE_DNS",
    )

    async def read_texts(_):
        return [token]

    world.server.service.outgoing._read_txt_records = read_texts
    await world.server.store.reset(f"domain proofs of {world.own.id}")
    return named


async def primary_domain(world):
    return {"domain": world.own.primary_domain}


_DOMAIN = "/management/v1/orgs/me/domains/{domain}"
MADE = {
    f"POST {_DOMAIN}/validation/_generate": new_domain,
    f"POST {_DOMAIN}/validation/_validate": proven_domain,
    f"POST {_DOMAIN}/_set_primary": primary_domain,
    f"DELETE {_DOMAIN}": new_domain,
    "GET /admin/v1/orgs/{orgId}": any_organization,
    "DELETE /admin/v1/orgs/{orgId}": any_organization,
    "DELETE /management/v1/orgs/me": any_organization,
    "POST /management/v1/orgs/me/_deactivate": any_organization,
    "POST /management/v1/orgs/me/_reactivate": any_organization,
    "PUT /management/v1/orgs/me/members/{userId}": new_member,
    "DELETE /management/v1/orgs/me/members/{userId}": new_member,
}

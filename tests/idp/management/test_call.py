"""Who called the management API is in the log."""

from __future__ import annotations

from tests.support.management.callers import new_caller, new_organization, refused


async def test_the_log_says_who_called_and_what_came_of_it(server, visitor, lines):
    here = await new_organization(server, "here.example")
    script = await new_caller(server, visitor, here)
    page = await script.post("/management/v1/projects", {"name": "P"})
    refused(page, 403, 7)

    told = [each for each in lines() if each.get("caller") == script.user_id]
    assert [each["event"] for each in told] == ["refused", "request"]
    assert told[0]["error"] == "permission_denied"
    assert (told[1]["status"], told[1]["request_id"]) == (403, page.headers["X-Request-Id"])
    assert script.token not in str(lines())


async def test_a_request_without_a_token_has_no_caller_in_the_log(server, visitor, lines):
    here = await new_organization(server, "here.example")
    script = await new_caller(server, visitor, here)
    await script.post("/management/v1/projects", {"name": "P"})
    already = len(lines())
    await visitor.get("/management/v1/projects/x")

    assert len(lines()) > already
    assert not [each for each in lines()[already:] if "caller" in each]

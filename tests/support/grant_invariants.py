"""Conditions that project grants, and roles assigned through them, fulfil at any moment."""

from __future__ import annotations

from idp.identity.users import grant_ids


def check_grants(found) -> None:
    """Checks that a grant has only roles of its project, and that roles assigned through a grant
    are granted by it or about to be removed."""
    known = {(one.project_id, one.key) for one in found["project_roles"].values()}
    waiting = {(one.kind, one.owner_id) for one in found["leftovers"].values()}
    for one in found["project_grants"].values():
        assert one.id == grant_ids.of_grant(one.project_id, one.granted_org_id)
        assert {(one.project_id, key) for key in one.role_keys} <= known, "no such role"
    for one in found["role_assignments"].values():
        if one.granted_by is None or ("project_grant.deleted", one.granted_by) in waiting:
            continue
        grant = found["project_grants"].get(grant_ids.of_grant(one.project_id, one.org_id))
        if grant is None:
            assert (
                {one.project_id, one.org_id}
                - found["projects"].keys()
                - (found["organizations"].keys())
            ), "roles by a grant that is gone"
            continue
        assert grant.generation == one.granted_by, "roles by a grant that is gone"
        is_due = ("project_grant.changed", grant.id) in waiting
        assert is_due or set(one.role_keys) <= set(grant.role_keys), "roles without a grant"

"""Policies and the words of letters: the installation's, and what organizations have instead."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Final

from idp.api.operation import Operation, operation
from idp.policies import login_texts, message_texts, pictures, policy
from idp.policies.kinds import KINDS, Kind
from idp.records.policies import PolicyKind

_READ: Final = "policy.read"
_WRITE: Final = "policy.write"
_PATH: Final = "/{}/v1/policies/{}"
_TEXT: Final = "text/message/{type}/{language}"
_PAGES: Final = "text/login/{language}"
_PICTURE: Final = "policies/label/{picture}"


def _of_installation(name: PolicyKind, kind: Kind) -> tuple[Operation, ...]:
    path, form, found, words = _PATH.format("admin", kind.path), kind.form, kind.found, kind.words
    return (
        operation(
            "GET",
            path,
            "iam.read",
            partial(policy.show_default, kind=name),
            answer=found,
            summary=f"The {words} of the installation.",
        ),
        operation(
            "PUT",
            path,
            "iam.write",
            partial(policy.put_default, kind=name),
            document=form,
            conditional=True,
            summary=f"Set the {words} of the installation.",
        ),
    )


def _of_organizations(name: PolicyKind, kind: Kind) -> tuple[Operation, ...]:
    path, form, words = _PATH.format("management", kind.path), kind.form, kind.words
    return (
        operation(
            "GET",
            path,
            _READ,
            partial(policy.show, kind=name),
            answer=kind.found,
            summary=f"The {words} that counts for an organization.",
        ),
        operation(
            "POST",
            path,
            _WRITE,
            partial(policy.create, kind=name),
            document=form,
            summary=f"Give an organization a {words} of its own.",
        ),
        operation(
            "PUT",
            path,
            _WRITE,
            partial(policy.change, kind=name),
            document=form,
            conditional=True,
            summary=f"Replace an organization's own {words}.",
        ),
        operation(
            "DELETE",
            path,
            _WRITE,
            partial(policy.reset, kind=name),
            conditional=True,
            summary=f"Let the {words} of the installation count again for an organization.",
        ),
    )


OPERATIONS = (
    *chain.from_iterable(_of_installation(name, kind) for name, kind in KINDS.items()),
    *chain.from_iterable(_of_organizations(name, kind) for name, kind in KINDS.items()),
    operation("GET", f"/admin/v1/{_TEXT}", "iam.read", message_texts.show_default),
    operation(
        "PUT", f"/admin/v1/{_TEXT}", "iam.write", message_texts.put_default, conditional=True
    ),
    operation("GET", f"/management/v1/{_TEXT}", _READ, message_texts.show),
    operation("PUT", f"/management/v1/{_TEXT}", _WRITE, message_texts.put, conditional=True),
    operation("DELETE", f"/management/v1/{_TEXT}", _WRITE, message_texts.reset, conditional=True),
    operation("GET", f"/admin/v1/{_PICTURE}", "iam.read", pictures.show_default),
    operation("PUT", f"/admin/v1/{_PICTURE}", "iam.write", pictures.put_default, conditional=True),
    operation(
        "DELETE", f"/admin/v1/{_PICTURE}", "iam.write", pictures.remove_default, conditional=True
    ),
    operation("GET", f"/management/v1/{_PICTURE}", _READ, pictures.show),
    operation("PUT", f"/management/v1/{_PICTURE}", _WRITE, pictures.put, conditional=True),
    operation("DELETE", f"/management/v1/{_PICTURE}", _WRITE, pictures.remove, conditional=True),
    operation(
        "GET", "/admin/v1/text/default/login/{language}", "iam.read", login_texts.show_built_in
    ),
    operation("GET", f"/admin/v1/{_PAGES}", "iam.read", login_texts.show_default),
    operation(
        "PUT", f"/admin/v1/{_PAGES}", "iam.write", login_texts.put_default, conditional=True
    ),
    operation(
        "GET", "/management/v1/text/default/login/{language}", _READ, login_texts.show_inherited
    ),
    operation("GET", f"/management/v1/{_PAGES}", _READ, login_texts.show),
    operation("PUT", f"/management/v1/{_PAGES}", _WRITE, login_texts.put, conditional=True),
    operation("DELETE", f"/management/v1/{_PAGES}", _WRITE, login_texts.reset, conditional=True),
)

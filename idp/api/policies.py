"""Operations on policies, page texts and message texts: the installation's, and those of
organizations."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Final

from idp.api.operation import Operation, operation
from idp.management.policies import login_texts, message_texts, pictures, policies
from idp.management.policies.policy_kinds import KINDS, PolicyKindEntry
from idp.records.policies import PolicyKind

_READ: Final = "policy.read"
_WRITE: Final = "policy.write"
_PATH: Final = "/{}/v1/policies/{}"
_TEXT: Final = "text/message/{type}/{language}"
_PAGES: Final = "text/login/{language}"
_PICTURE: Final = "policies/label/{picture}"


def _of_installation(name: PolicyKind, kind: PolicyKindEntry) -> tuple[Operation, ...]:
    path, form, answer_type, words = (
        _PATH.format("admin", kind.path),
        kind.form,
        kind.answer_type,
        kind.noun,
    )
    return (
        operation(
            "GET",
            path,
            "iam.read",
            partial(policies.show_default, kind=name),
            name=f"policy_show_default_{name}",
            answer=answer_type,
            summary=f"Get the {words} of the installation.",
        ),
        operation(
            "PUT",
            path,
            "iam.write",
            partial(policies.put_default, kind=name),
            name=f"policy_put_default_{name}",
            document=form,
            conditional=True,
            summary=f"Set the {words} of the installation.",
        ),
    )


def _of_organizations(name: PolicyKind, kind: PolicyKindEntry) -> tuple[Operation, ...]:
    path, form, words = _PATH.format("management", kind.path), kind.form, kind.noun
    return (
        operation(
            "GET",
            path,
            _READ,
            partial(policies.show, kind=name),
            name=f"policy_show_{name}",
            answer=kind.answer_type,
            summary=f"Get the effective {words} of an organization.",
        ),
        operation(
            "POST",
            path,
            _WRITE,
            partial(policies.create, kind=name),
            name=f"policy_create_{name}",
            document=form,
            summary=f"Create an organization's own {words}.",
        ),
        operation(
            "PUT",
            path,
            _WRITE,
            partial(policies.change, kind=name),
            name=f"policy_change_{name}",
            document=form,
            conditional=True,
            summary=f"Replace an organization's own {words}.",
        ),
        operation(
            "DELETE",
            path,
            _WRITE,
            partial(policies.reset, kind=name),
            name=f"policy_reset_{name}",
            conditional=True,
            summary=f"Reset the {words} of an organization to that of the installation.",
        ),
    )


OPERATIONS = (
    *chain.from_iterable(_of_installation(name, kind) for name, kind in KINDS.items()),
    *chain.from_iterable(_of_organizations(name, kind) for name, kind in KINDS.items()),
    operation(
        "GET",
        f"/admin/v1/{_TEXT}",
        "iam.read",
        message_texts.show_default,
        name="message_texts_show_default",
        summary="Get the installation's own texts of a message.",
    ),
    operation(
        "PUT",
        f"/admin/v1/{_TEXT}",
        "iam.write",
        message_texts.put_default,
        name="message_texts_put_default",
        summary="Set the installation's texts of a message in a language.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/management/v1/{_TEXT}",
        _READ,
        message_texts.show,
        name="message_texts_show",
        summary="Get an organization's own texts of a message.",
    ),
    operation(
        "PUT",
        f"/management/v1/{_TEXT}",
        _WRITE,
        message_texts.put,
        name="message_texts_put",
        summary="Set an organization's texts of a message in a language.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/management/v1/{_TEXT}",
        _WRITE,
        message_texts.reset,
        name="message_texts_reset",
        summary="Reset an organization's texts of a message to those of the installation.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/admin/v1/{_PICTURE}",
        "iam.read",
        pictures.show_default,
        name="pictures_show_default",
        summary="Get a picture of the installation's pages.",
    ),
    operation(
        "PUT",
        f"/admin/v1/{_PICTURE}",
        "iam.write",
        pictures.put_default,
        name="pictures_put_default",
        summary="Set a picture of the installation's pages.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/admin/v1/{_PICTURE}",
        "iam.write",
        pictures.remove_default,
        name="pictures_remove_default",
        summary="Remove a picture from the installation's pages.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/management/v1/{_PICTURE}",
        _READ,
        pictures.show,
        name="pictures_show",
        summary="Get a picture of an organization's pages, its own or the installation's.",
    ),
    operation(
        "PUT",
        f"/management/v1/{_PICTURE}",
        _WRITE,
        pictures.put,
        name="pictures_put",
        summary="Set a picture of an organization's pages.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/management/v1/{_PICTURE}",
        _WRITE,
        pictures.remove,
        name="pictures_remove",
        summary="Remove an organization's own picture.",
        conditional=True,
    ),
    operation(
        "GET",
        "/admin/v1/text/default/login/{language}",
        "iam.read",
        login_texts.show_built_in,
        name="login_texts_show_built_in",
        summary="List the default texts of the pages, which the installation can replace.",
    ),
    operation(
        "GET",
        f"/admin/v1/{_PAGES}",
        "iam.read",
        login_texts.show_default,
        name="login_texts_show_default",
        summary="Get the installation's own texts of the pages in a language.",
    ),
    operation(
        "PUT",
        f"/admin/v1/{_PAGES}",
        "iam.write",
        login_texts.put_default,
        name="login_texts_put_default",
        summary="Set the installation's texts of the pages in a language.",
        conditional=True,
    ),
    operation(
        "GET",
        "/management/v1/text/default/login/{language}",
        _READ,
        login_texts.show_inherited,
        name="login_texts_show_inherited",
        summary="List the effective texts of the pages, which an organization can replace.",
    ),
    operation(
        "GET",
        f"/management/v1/{_PAGES}",
        _READ,
        login_texts.show,
        name="login_texts_show",
        summary="Get an organization's own texts of the pages in a language.",
    ),
    operation(
        "PUT",
        f"/management/v1/{_PAGES}",
        _WRITE,
        login_texts.put,
        name="login_texts_put",
        summary="Set an organization's texts of the pages in a language.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/management/v1/{_PAGES}",
        _WRITE,
        login_texts.reset,
        name="login_texts_reset",
        summary="Reset an organization's texts of the pages to those of the installation.",
        conditional=True,
    ),
)

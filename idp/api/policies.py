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
    path, form, found, words = _PATH.format("admin", kind.path), kind.form, kind.found, kind.words
    return (
        operation(
            "GET",
            path,
            "iam.read",
            partial(policies.show_default, kind=name),
            name=f"policy_show_default_{name}",
            answer=found,
            summary=f"The {words} of the installation.",
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
    path, form, words = _PATH.format("management", kind.path), kind.form, kind.words
    return (
        operation(
            "GET",
            path,
            _READ,
            partial(policies.show, kind=name),
            name=f"policy_show_{name}",
            answer=kind.found,
            summary=f"The {words} that counts for an organization.",
        ),
        operation(
            "POST",
            path,
            _WRITE,
            partial(policies.create, kind=name),
            name=f"policy_create_{name}",
            document=form,
            summary=f"Give an organization a {words} of its own.",
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
            summary=f"Let the {words} of the installation count again for an organization.",
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
        summary="What the installation says in a letter, where it isn't what is built in.",
    ),
    operation(
        "PUT",
        f"/admin/v1/{_TEXT}",
        "iam.write",
        message_texts.put_default,
        name="message_texts_put_default",
        summary="Set what the installation says in a letter, in one language.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/management/v1/{_TEXT}",
        _READ,
        message_texts.show,
        name="message_texts_show",
        summary="What an organization says in a letter, where it isn't what is built in.",
    ),
    operation(
        "PUT",
        f"/management/v1/{_TEXT}",
        _WRITE,
        message_texts.put,
        name="message_texts_put",
        summary="Set what an organization says in a letter, in one language.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/management/v1/{_TEXT}",
        _WRITE,
        message_texts.reset,
        name="message_texts_reset",
        summary="Let an organization's letter say again what the installation says.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/admin/v1/{_PICTURE}",
        "iam.read",
        pictures.show_default,
        name="pictures_show_default",
        summary="A picture of the installation's pages.",
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
        summary="Take a picture off the installation's pages.",
        conditional=True,
    ),
    operation(
        "GET",
        f"/management/v1/{_PICTURE}",
        _READ,
        pictures.show,
        name="pictures_show",
        summary="A picture of the pages of an organization, its own or the installation's.",
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
        summary="Take an organization's own picture off its pages.",
        conditional=True,
    ),
    operation(
        "GET",
        "/admin/v1/text/default/login/{language}",
        "iam.read",
        login_texts.show_built_in,
        name="login_texts_show_built_in",
        summary="Every text that the installation can set, as it is built in.",
    ),
    operation(
        "GET",
        f"/admin/v1/{_PAGES}",
        "iam.read",
        login_texts.show_default,
        name="login_texts_show_default",
        summary="What the pages of the installation say in a language, where it isn't what is"
        " built in.",
    ),
    operation(
        "PUT",
        f"/admin/v1/{_PAGES}",
        "iam.write",
        login_texts.put_default,
        name="login_texts_put_default",
        summary="Set what the pages of the installation say in a language.",
        conditional=True,
    ),
    operation(
        "GET",
        "/management/v1/text/default/login/{language}",
        _READ,
        login_texts.show_inherited,
        name="login_texts_show_inherited",
        summary="Every text that an organization can set, as it is otherwise.",
    ),
    operation(
        "GET",
        f"/management/v1/{_PAGES}",
        _READ,
        login_texts.show,
        name="login_texts_show",
        summary="What the pages of an organization say in a language, where it isn't what is built"
        " in.",
    ),
    operation(
        "PUT",
        f"/management/v1/{_PAGES}",
        _WRITE,
        login_texts.put,
        name="login_texts_put",
        summary="Set what the pages of an organization say in a language.",
        conditional=True,
    ),
    operation(
        "DELETE",
        f"/management/v1/{_PAGES}",
        _WRITE,
        login_texts.reset,
        name="login_texts_reset",
        summary="Let an organization's pages say again what those of the installation say.",
        conditional=True,
    ),
)

"""Operations on policies, page texts and message texts: the installation's, and those of
organizations."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Final

from idp.api.operation import named_in, operation
from idp.management.policies import login_texts, message_texts, pictures, policies
from idp.management.policies.policy_kinds import KINDS

_READ: Final = "policy.read"
_WRITE: Final = "policy.write"
_TEXT: Final = "text/message/{type}/{language}"
_PAGES: Final = "text/login/{language}"
_PICTURE: Final = "policies/label/{picture}"

READ_DEFAULT: Final = {
    name: operation(
        f"GET /admin/v1/policies/{kind.path}",
        "iam.read",
        partial(policies.show_default, kind=name),
        name=f"policy_show_default_{name}",
        answer=kind.answer_type,
        summary=f"Get the {kind.noun} of the installation.",
    )
    for name, kind in KINDS.items()
}
SET_DEFAULT: Final = {
    name: operation(
        f"PUT /admin/v1/policies/{kind.path}",
        "iam.write",
        partial(policies.put_default, kind=name),
        name=f"policy_put_default_{name}",
        document=kind.form,
        conditional=True,
        summary=f"Set the {kind.noun} of the installation.",
    )
    for name, kind in KINDS.items()
}
READ: Final = {
    name: operation(
        f"GET /management/v1/policies/{kind.path}",
        _READ,
        partial(policies.show, kind=name),
        name=f"policy_show_{name}",
        answer=kind.answer_type,
        summary=f"Get the effective {kind.noun} of an organization.",
    )
    for name, kind in KINDS.items()
}
CREATE: Final = {
    name: operation(
        f"POST /management/v1/policies/{kind.path}",
        _WRITE,
        partial(policies.create, kind=name),
        name=f"policy_create_{name}",
        document=kind.form,
        summary=f"Create an organization's own {kind.noun}.",
    )
    for name, kind in KINDS.items()
}
CHANGE: Final = {
    name: operation(
        f"PUT /management/v1/policies/{kind.path}",
        _WRITE,
        partial(policies.change, kind=name),
        name=f"policy_change_{name}",
        document=kind.form,
        conditional=True,
        summary=f"Replace an organization's own {kind.noun}.",
    )
    for name, kind in KINDS.items()
}
RESET: Final = {
    name: operation(
        f"DELETE /management/v1/policies/{kind.path}",
        _WRITE,
        partial(policies.reset, kind=name),
        name=f"policy_reset_{name}",
        conditional=True,
        summary=f"Reset the {kind.noun} of an organization to that of the installation.",
    )
    for name, kind in KINDS.items()
}
READ_DEFAULT_MESSAGE_TEXTS: Final = operation(
    f"GET /admin/v1/{_TEXT}",
    "iam.read",
    message_texts.show_default,
    name="message_texts_show_default",
    summary="Get the installation's own texts of a message.",
)
SET_DEFAULT_MESSAGE_TEXTS: Final = operation(
    f"PUT /admin/v1/{_TEXT}",
    "iam.write",
    message_texts.put_default,
    name="message_texts_put_default",
    summary="Set the installation's texts of a message in a language.",
    conditional=True,
)
READ_MESSAGE_TEXTS: Final = operation(
    f"GET /management/v1/{_TEXT}",
    _READ,
    message_texts.show,
    name="message_texts_show",
    summary="Get an organization's own texts of a message.",
)
SET_MESSAGE_TEXTS: Final = operation(
    f"PUT /management/v1/{_TEXT}",
    _WRITE,
    message_texts.put,
    name="message_texts_put",
    summary="Set an organization's texts of a message in a language.",
    conditional=True,
)
RESET_MESSAGE_TEXTS: Final = operation(
    f"DELETE /management/v1/{_TEXT}",
    _WRITE,
    message_texts.reset,
    name="message_texts_reset",
    summary="Reset an organization's texts of a message to those of the installation.",
    conditional=True,
)
READ_DEFAULT_PICTURE: Final = operation(
    f"GET /admin/v1/{_PICTURE}",
    "iam.read",
    pictures.show_default,
    name="pictures_show_default",
    summary="Get a picture of the installation's pages.",
)
SET_DEFAULT_PICTURE: Final = operation(
    f"PUT /admin/v1/{_PICTURE}",
    "iam.write",
    pictures.put_default,
    name="pictures_put_default",
    summary="Set a picture of the installation's pages.",
    conditional=True,
)
REMOVE_DEFAULT_PICTURE: Final = operation(
    f"DELETE /admin/v1/{_PICTURE}",
    "iam.write",
    pictures.remove_default,
    name="pictures_remove_default",
    summary="Remove a picture from the installation's pages.",
    conditional=True,
)
READ_PICTURE: Final = operation(
    f"GET /management/v1/{_PICTURE}",
    _READ,
    pictures.show,
    name="pictures_show",
    summary="Get a picture of an organization's pages, its own or the installation's.",
)
SET_PICTURE: Final = operation(
    f"PUT /management/v1/{_PICTURE}",
    _WRITE,
    pictures.put,
    name="pictures_put",
    summary="Set a picture of an organization's pages.",
    conditional=True,
)
REMOVE_PICTURE: Final = operation(
    f"DELETE /management/v1/{_PICTURE}",
    _WRITE,
    pictures.remove,
    name="pictures_remove",
    summary="Remove an organization's own picture.",
    conditional=True,
)
READ_BUILT_IN_PAGE_TEXTS: Final = operation(
    "GET /admin/v1/text/default/login/{language}",
    "iam.read",
    login_texts.show_built_in,
    name="login_texts_show_built_in",
    summary="List the default texts of the pages, which the installation can replace.",
)
READ_DEFAULT_PAGE_TEXTS: Final = operation(
    f"GET /admin/v1/{_PAGES}",
    "iam.read",
    login_texts.show_default,
    name="login_texts_show_default",
    summary="Get the installation's own texts of the pages in a language.",
)
SET_DEFAULT_PAGE_TEXTS: Final = operation(
    f"PUT /admin/v1/{_PAGES}",
    "iam.write",
    login_texts.put_default,
    name="login_texts_put_default",
    summary="Set the installation's texts of the pages in a language.",
    conditional=True,
)
READ_INHERITED_PAGE_TEXTS: Final = operation(
    "GET /management/v1/text/default/login/{language}",
    _READ,
    login_texts.show_inherited,
    name="login_texts_show_inherited",
    summary="List the effective texts of the pages, which an organization can replace.",
)
READ_PAGE_TEXTS: Final = operation(
    f"GET /management/v1/{_PAGES}",
    _READ,
    login_texts.show,
    name="login_texts_show",
    summary="Get an organization's own texts of the pages in a language.",
)
SET_PAGE_TEXTS: Final = operation(
    f"PUT /management/v1/{_PAGES}",
    _WRITE,
    login_texts.put,
    name="login_texts_put",
    summary="Set an organization's texts of the pages in a language.",
    conditional=True,
)
RESET_PAGE_TEXTS: Final = operation(
    f"DELETE /management/v1/{_PAGES}",
    _WRITE,
    login_texts.reset,
    name="login_texts_reset",
    summary="Reset an organization's texts of the pages to those of the installation.",
    conditional=True,
)
OPERATIONS: Final = (
    *chain.from_iterable((READ_DEFAULT[kind], SET_DEFAULT[kind]) for kind in KINDS),
    *chain.from_iterable((READ[kind], CREATE[kind], CHANGE[kind], RESET[kind]) for kind in KINDS),
    *named_in(globals()),
)

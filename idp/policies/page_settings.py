"""The effective settings of an organization's pages, cached for 5 s because every page needs
them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final, TypeVar, cast

from msgspec import Struct

from idp.foundation import i18n
from idp.foundation.i18n import Bundle
from idp.policies import effective, logo_plates, page_texts, palette, pictures
from idp.policies.logo_plates import Plates
from idp.policies.pictures import PictureLink, PictureReference
from idp.records import (
    ORGANIZATIONS,
    PICTURES,
    POLICIES,
    LabelRules,
    LanguageRules,
    LoginRules,
    Picture,
    Policy,
    PrivacyRules,
)
from idp.records.connections import OFFERED_CONNECTIONS, offered_id
from idp.records.policies import PolicyKind, PolicyRules
from idp.service import Service

_KINDS: Final[tuple[PolicyKind, ...]] = ("login", "label", "privacy", "language")
R = TypeVar("R", bound=PolicyRules)


class PageSettings(Struct, frozen=True):
    """The settings of pages: sign-in rules, colours, pictures, links and languages.

    `languages` are those to choose from. `name` and `domain` are those of the organization whose
    pages they are, None for the installation's. `brand` has the two parts of the stylesheet's
    address if colours differ from the built-in ones: the policy's id and a digest of the
    stylesheet. `connection_ids` are those of the connections that they offer.
    """

    login: LoginRules
    label: LabelRules
    privacy: PrivacyRules
    languages: tuple[str, ...]
    default_language: str
    name: str | None = None
    domain: str | None = None
    brand: tuple[str, str] | None = None
    logo: PictureLink | None = None
    icon: PictureLink | None = None
    background: PictureReference | None = None
    connection_ids: tuple[str, ...] = ()


async def find(service: Service, org_id: str | None) -> PageSettings:
    """Returns the settings of the organization's pages, or of the installation's if `org_id` is
    None."""
    return await service.settings_cache.get(
        ("page settings", org_id), service.clock.now(), lambda: _read(service, org_id)
    )


async def bundle(service: Service, org_id: str | None, tag: str) -> Bundle:
    """Returns the texts of the organization's pages, or of the installation's (None), in the
    language with this tag, from the cache."""
    return await service.settings_cache.get(
        ("texts", org_id, tag),
        service.clock.now(),
        lambda: page_texts.bundle(service, org_id, tag),
    )


async def stylesheet(service: Service, policy_id: str) -> str | None:
    """Returns the stylesheet of a label policy; None if there is no such policy."""
    policy = await service.store.get(POLICIES, policy_id)
    if policy is None or not isinstance(policy.rules, LabelRules):
        return None
    return palette.stylesheet(policy.rules)


def digest(stylesheet: str) -> str:
    """Returns the digest of a stylesheet, which is part of its address, so that caches can store
    it without expiry."""
    return hashlib.sha256(stylesheet.encode()).hexdigest()[:16]


async def _read(service: Service, org_id: str | None) -> PageSettings:
    owners = (org_id, None)
    keys: list[Any] = [
        *(
            (POLICIES, effective.policy_id(org_or_none, kind))
            for kind in _KINDS
            for org_or_none in owners
        ),
        *(
            (PICTURES, pictures.picture_id(org_or_none, kind))
            for kind in pictures.PICTURE_LIMITS
            for org_or_none in owners
        ),
        *((OFFERED_CONNECTIONS, offered_id(org_or_none)) for org_or_none in owners),
        *([(ORGANIZATIONS, org_id)] if org_id else []),
    ]
    records = await service.store.get_many(keys)
    organization = records.pop() if org_id else None
    of_installation, of_org = records.pop(), records.pop()
    offered = (of_org if org_id else None) or of_installation
    policies, picture_records = records[: 2 * len(_KINDS)], records[2 * len(_KINDS) :]
    login, label, privacy, language = (
        own or default for own, default in zip(policies[::2], policies[1::2], strict=True)
    )
    language_rules = cast(LanguageRules, _rules(service, language, "language"))
    label_rules = cast(LabelRules, _rules(service, label, "label"))
    logos = pictures.displayed(picture_records[:4])
    backgrounds = [picture for picture in picture_records[8:] if picture is not None]
    return PageSettings(
        login=cast(LoginRules, _rules(service, login, "login")),
        label=label_rules,
        privacy=cast(PrivacyRules, _rules(service, privacy, "privacy")),
        languages=_languages(language_rules),
        default_language=language_rules.default_language or service.config.default_language,
        name=organization.name if organization else None,
        domain=organization.primary_domain if organization else None,
        brand=_brand(label),
        logo=pictures.picture_link(logos, await _plates(service, logos, label_rules)),
        icon=pictures.picture_link(pictures.displayed(picture_records[4:8])),
        background=pictures.reference(backgrounds[0]) if backgrounds else None,
        connection_ids=tuple(offered.connection_ids) if offered else (),
    )


async def _plates(service: Service, logos: Sequence[Picture], label: LabelRules) -> Plates:
    """Returns the plates behind the logo of light pages, and that of dark ones."""
    plates_by_scheme = {
        scheme: await logo_plates.of_logo(service, logo, label)
        for scheme, logo in zip(palette.BUILT_IN, (*logos, *logos), strict=False)
    }
    return {
        scheme: plates[scheme] for scheme, plates in plates_by_scheme.items() if scheme in plates
    }


def _rules(service: Service, policy: Policy | None, kind: PolicyKind) -> PolicyRules:
    return policy.rules if policy else effective.built_in(service.config, kind)


def _languages(rules: LanguageRules) -> tuple[str, ...]:
    shipped: Sequence[str] = i18n.available()
    return tuple(tag for tag in shipped if tag in rules.allowed_languages) or tuple(shipped)


def _brand(label: Policy | None) -> tuple[str, str] | None:
    if label is None or not isinstance(label.rules, LabelRules):
        return None
    colours = palette.stylesheet(label.rules)
    return (label.id, digest(colours)) if colours else None

## How a user signs in: what is set up, and where each is changed.
##   cards: list[dict]      {label: Message, icon, url: str, state: FactorState}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="cards.mako"/>\
<%def name="title()">${pgettext("account", "Sign-in and security")}</%def>\
${parts.cards(cards)}

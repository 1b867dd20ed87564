## Links to the parts of a user's account, and what is in each.
##   cards: list[dict]      {label: Message, icon, url: str, state: FactorState}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="cards.mako"/>\
<%def name="title()">${pgettext("account", "Your account")}</%def>\
${parts.cards(cards)}

## Where somebody stands with their account.
##   cards: list[dict]      {label, text: Message, url: str}: the parts, and what is in each
<%inherit file="frame.mako"/>\
<%def name="title()">${pgettext("account", "Your account")}</%def>\
<ul class="cards">
% for card in cards:
<li><a href="${web_link(card['url'])}"><strong>${said(card["label"])}</strong>
<span>${said(card["text"])}</span></a></li>
% endfor
</ul>

## Cards that lead to the parts of an account, each with its state.
##   cards: list[dict]      {label: Message, icon, url: str, state: FactorState}
<%def name="cards(entries)">
<ul class="cards">
% for card in entries:
<li><a href="${web_link(card['url'])}">${icon(card["icon"])}
<span class="person"><strong>${translated(card["label"])}</strong>
<span>${state_of(card["state"])}</span></span>
${icon("chevron-right")}</a></li>
% endfor
</ul>
</%def>

<%def name="state_of(state)">\
% if state.text:
${translated(state.text)}\
% endif
% if state.text and state.at:
 · \
% endif
% if state.at:
${rich(translated(state.time_text), when=moment(state.at, "relative"))}\
% endif
</%def>

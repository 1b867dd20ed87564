## A new application: what kind it is, with what it is made, and then its form.
##   cards: list[dict]       {title, text: Message, url: str, is_chosen: bool}
##   tools: list[dict]       {title: Message | str, url: str, is_chosen: bool}; empty before a kind is chosen
##   reasons: list[dict]     {label: Message, name: str, reason: Message}: what the tool needs otherwise
##   notes: list[Message]    what people trip over with it
##   fields: list[dict]      the inputs, see console/parts.mako; empty before a kind is chosen
##   commands: list[dict]    the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${pgettext("console", "New application")}</%def>\
<h2>${pgettext("new-application", "What kind of application is it?")}</h2>
<ul class="cards">
% for card in cards:
<li><a href="${web_link(card['url'])}"${html_attributes({"aria-current": "true" if card["is_chosen"] else None})}><strong>${translated(card["title"])}</strong> <span>${translated(card["text"])}</span></a></li>
% endfor
</ul>
% if tools:
<h2 id="tools">${pgettext("new-application", "Which framework or tool do you use?")}</h2>
<ul class="choices" aria-labelledby="tools">
% for tool in tools:
<li><a href="${web_link(tool['url'])}#form"${html_attributes({"aria-current": "true" if tool["is_chosen"] else None})} dir="auto">\
% if isinstance(tool["title"], str):
<bdi>${tool["title"]}</bdi>\
% else:
${translated(tool["title"])}\
% endif
</a></li>
% endfor
</ul>
% endif
% if reasons or notes:
<h2>${pgettext("new-application", "Settings chosen for you, and why")}</h2>
% if reasons:
<dl class="properties">
% for reason in reasons:
<div><dt>${translated(reason["label"])}</dt><dd>${cited(translated(reason["reason"]))}</dd></div>
% endfor
</dl>
% endif
% if notes:
<ul>
% for note in notes:
<li>${translated(note)}</li>
% endfor
</ul>
% endif
% endif
% if fields:
<h2 id="form">${pgettext("new-application", "Register the application")}</h2>
<%form:step>
% for field in fields:
${parts.entry(field)}
% endfor
<div class="row"><button data-kind="primary">${pgettext("new-application", "Create the application")}</button></div>
</%form:step>
% endif
${parts.by_hand(commands)}

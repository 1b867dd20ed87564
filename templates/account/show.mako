## Something of somebody's account: what is known, and what can be done.
##   title_text: Message
##   intro: Message | None
##   page_parts: list[dict]       {title: Message | None, properties: list[dict] as in console/parts.mako,
##                              actions: list[dict]: {label: Message, url: str, is_dangerous: bool}}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="/console/parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
% if intro:
<p>${translated(intro)}</p>
% endif
% for part in page_parts:
% if part["title"]:
<h2>${translated(part["title"])}</h2>
% endif
% if part["properties"]:
${parts.properties(part["properties"])}
% endif
${parts.action_links(part["actions"])}
% endfor

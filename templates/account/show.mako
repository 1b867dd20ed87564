## Something of somebody's account: what is known, and what can be done.
##   title_text: Message
##   intro: Message | None
##   parts_of: list[dict]       {title: Message | None, facts: list[dict] as in console/parts.mako,
##                              actions: list[dict]: {label: Message, url: str, is_dangerous: bool}}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="/console/parts.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
% if intro:
<p>${said(intro)}</p>
% endif
% for part in parts_of:
% if part["title"]:
<h2>${said(part["title"])}</h2>
% endif
% if part["facts"]:
${parts.facts(part["facts"])}
% endif
${parts.action_links(part["actions"])}
% endfor

## A list: what is found, a page at a time.
##   title_text: Message
##   intro: Message | None
##   search: dict | None        {fields: list[dict] as in console/parts.mako, hidden: list[(str, str)],
##                              clear_url: str | None}; it is sent by GET
##   columns: list[Message]
##   rows: list[list[dict]]     a cell is {value, kind, url} as in console/parts.mako; the first names the row
##   total: Message | None      how many there are
##   empty: Message             what is said where there are none
##   first_url, next_url: str | None
##   actions: list[dict]        {label: Message, url: str}
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
% if intro:
<p>${said(intro)}</p>
% endif
% if actions:
<p class="row">
% for action in actions:
<a class="button" href="${web_link(action['url'])}">${said(action["label"])}</a>
% endfor
</p>
% endif
% if search:
<form class="search" role="search" method="get">
% for key, value in search["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
% for field in search["fields"]:
${parts.entry(field)}
% endfor
<div class="row">
<button class="quiet">${pgettext("console", "Search")}</button>
% if search["clear_url"]:
<a class="button quiet" href="${web_link(search['clear_url'])}">${pgettext("console", "Show all")}</a>
% endif
</div>
</form>
% endif
% if total:
<p class="total">${said(total)}</p>
% endif
${parts.table(said(title_text), columns, rows, empty)}
${parts.turns(first_url, next_url)}
${parts.by_hand(commands)}

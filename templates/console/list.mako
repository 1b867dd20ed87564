## A list: what is found, a page at a time.
##   title_text: Message
##   intro: Message | None
##   search: dict | None        {fields: list[dict] as in console/parts.mako, hidden: list[(str, str)],
##                              clear_url: str | None, chips: list}; it is sent by GET
##   columns: list of Message or SortableColumn (handlers/console/lists.py)
##   selection: dict | None     rows can be selected for an action: {action: str, hidden: list[(str, str)],
##                              choices: list[(str, Message)], rows: list[(str, str)]: the value and
##                              the name of each row}
##   rows: list[list[dict]]     a cell is {value, kind, url} as in console/parts.mako; the first names the row
##   total: Message | None      how many there are
##   empty: Message             the text where there are none
##   empty_icon: str            the icon beside it (templates/static/icons)
##   first_url, next_url: str | None
##   sizes: list[dict]          how many rows a page can have: {text: str, url: str, is_current: bool}
##   actions: list[dict]        {label: Message, url: str}
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
<%def name="heading(title)">
<div class="head">
<h1>${title}</h1>
% if rows:
${ways()}
% endif
</div>
</%def>\
% if intro:
<p>${translated(intro)}</p>
% endif
% if search:
${parts.search(search)}
% endif
% if total:
<p class="total">${translated(total)}</p>
% endif
% if selection and rows:
<form id="step" method="post" action="${web_link(selection['action'])}">
% for key, value in selection["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
${parts.table(translated(title_text), columns, rows, boxes=selection["rows"])}
<div class="row">
<label for="do">${pgettext("console", "Selected:")}</label>
<select id="do" name="do">
% for value, label in selection["choices"]:
<option value="${value}">${text_of(label)}</option>
% endfor
</select>
<button>${pgettext("console", "Continue")}</button>
</div>
</form>
% elif rows:
${parts.table(translated(title_text), columns, rows)}
% else:
<div class="empty">
${icon(empty_icon)}
<p>${translated(empty)}</p>
${ways()}
</div>
% endif
${parts.turns(first_url, next_url, sizes)}
${parts.by_hand(commands)}
<%def name="ways()">
% if actions:
<p class="row">
% for action in actions:
<a class="button"${html_attributes({"data-kind": "primary" if loop.first else None})} href="${web_link(action['url'])}">${translated(action["label"])}</a>
% endfor
</p>
% endif
</%def>\

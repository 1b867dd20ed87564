## The texts of one page in one language.
##   search: dict               {fields: list[dict] as in console/parts.mako, hidden: list[(str, str)]};
##                              which page and language; it is sent by GET
##   texts: list[dict]          {name: str, usual: str, key: str | None, value: str}: what the page
##                              says otherwise, and in English
##   language: str              the texts' own, with its text_direction
##   text_direction: str
##   may_write: bool
##   back_url: str
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${pgettext("policies", "Texts of the pages")}</%def>\
<form class="search" method="get">
% for key, value in search["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
% for field in search["fields"]:
${parts.entry(field)}
% endfor
<div class="row"><button class="quiet">${pgettext("policies", "Show")}</button></div>
</form>
<p>${pgettext("policies", "Each field is named by what the page says otherwise; left empty, that stays. Parts that begin with a per cent sign are filled in, and have to be in your text, too.")}</p>
<%form:step>
% for text in texts:
<% mistakes = problems_of(problems, text["name"]) %>\
<div class="field">
<label for="${text['name']}" lang="${language}" dir="${text_direction}">${text["usual"]}</label>
% if text["key"]:
<p class="hint" lang="en" dir="ltr">${text["key"]}</p>
% endif
% if mistakes:
<div class="problem" id="${text['name']}-problem">
% for mistake in mistakes:
<p>${said(mistake)}</p>
% endfor
</div>
% endif
<textarea id="${text['name']}" name="${text['name']}" rows="2" lang="${language}" dir="${text_direction}" autocomplete="off"${html_attributes({"readonly": not may_write, "aria-invalid": "true" if mistakes else None, "aria-describedby": f"{text['name']}-problem" if mistakes else None})}>
${text["value"]}</textarea>
</div>
% endfor
<div class="row">
% if may_write:
<button>${pgettext("console", "Save")}</button>
% endif
<a class="button quiet" href="${web_link(back_url)}">${pgettext("policies", "Back")}</a>
</div>
</%form:step>
${parts.by_hand(commands)}

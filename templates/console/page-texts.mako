## The texts of one page in one language.
##   search: dict               {fields: list[dict] as in console/parts.mako, hidden: list[(str, str)]};
##                              which page and language; it is sent by GET
##   texts: list[dict]          {name: str, default_text: str, key: str | None, value: str}: what the page
##                              says otherwise, and in English
##   language: str              the texts' own, with its text_direction
##   text_direction: str
##   may_write: bool
##   changes: list[dict]        what another person has changed meanwhile: {label: str, cell: dict}
##   is_stale: bool             whether the form was refused for that
##   actions: list[dict]        {label: Message, url: str, is_dangerous: bool}
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${pgettext("policies", "Texts of the pages")}</%def>\
<%def name="heading(title)">
<div class="head">
<h1>${title}</h1>
${parts.action_links(actions)}
</div>
</%def>\
<form class="search" method="get">
% for key, value in search["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
% for field in search["fields"]:
${parts.entry(field)}
% endfor
<div class="row"><button>${pgettext("policies", "Show")}</button></div>
</form>
<p>${pgettext("policies", "Each label shows the default text. Leave a field empty to keep it. Your text must contain the same placeholders, which begin with a percent sign.")}</p>
% if changes:
<h2>${pgettext("console", "Saved by someone else")}</h2>
${parts.properties(changes)}
% endif
<%form:step>
% for text in texts:
<% labels[text["name"]] = text["default_text"] %>\
<div class="field">
<label for="${text['name']}" lang="${language}" dir="${text_direction}">${text["default_text"]}</label>
<textarea id="${text['name']}" name="${text['name']}" rows="2" lang="${language}" dir="${text_direction}" autocomplete="off"${html_attributes({"readonly": not may_write, **input_attributes(text["name"], text["key"], problems, retry_seconds)})}>
${text["value"]}</textarea>
${form.beneath(text["name"], None)}
% if text["key"]:
<p class="hint" id="${text['name']}-hint" lang="en" dir="ltr">${text["key"]}</p>
% endif
</div>
% endfor
<div class="row">
% if may_write:
<button data-kind="primary">${pgettext("console", "Save anyway") if is_stale else pgettext("console", "Save")}</button>
% endif
</div>
</%form:step>
${parts.by_hand(commands)}

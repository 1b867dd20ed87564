## A page that does something: a form, or only a question.
##   title_text: Message
##   about: str | None          what it is about
##   names: list[str]           the names of all that it is about, if these are several
##   intro: Message | None      what will happen
##   changes: list[dict]        what another person has changed meanwhile: {label: Message, cell: dict}
##   fields: list[dict]         the inputs, see console/parts.mako
##   confirm: str | None        what has to be typed to go on; None: nothing
##   button: Message
##   is_dangerous: bool
##   preview_url: str | None    the page that shows what is entered, in a frame beside the form
##   back_url: str
##   page_parts: list[dict]     lists beneath the form, as in console/show.mako
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
% if about:
<p class="asking">${strong(about)}</p>
% endif
% if intro:
<p>${translated(intro)}</p>
% endif
% if names:
<ul class="names">
% for name in names:
<li><bdi>${name}</bdi></li>
% endfor
</ul>
% endif
% if changes:
<h2>${pgettext("console", "Saved by someone else")}</h2>
${parts.properties(changes)}
% endif
% if page_parts:
<div class="card">
% endif
% if preview_url:
<div class="previewed">
% endif
<%form:step>
${parts.entries(fields)}
% if confirm is not None:
${form.field("confirm", rich(pgettext("console", "To continue, enter %(name)s"), name=strong(confirm)), type="text", autocomplete="off", dir="auto", required=True)}
% endif
<div class="row">
<button data-kind="${'danger' if is_dangerous else 'primary'}">${translated(button)}</button>
% if preview_url:
<button formaction="${web_link(preview_url)}" formtarget="preview" formnovalidate data-preview>${pgettext("policies", "Preview")}</button>
% endif
<a class="button" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>
% if preview_url:
${parts.preview(preview_url)}
</div>
% endif
% if page_parts:
</div>
${parts.record_parts(page_parts)}
% endif
${parts.by_hand(commands)}

## A page that does something: a form, or only a question.
##   title_text: Message
##   about: str | None          what it is about
##   intro: Message | None      what will happen
##   fields: list[dict]         the inputs, see console/parts.mako
##   confirm: str | None        what has to be typed to go on; None: nothing
##   button: Message
##   is_dangerous: bool
##   other_buttons: list[(Message, str)] buttons that send the form elsewhere, with where
##   back_url: str
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
% if about:
<p class="asking">${strong(about)}</p>
% endif
% if intro:
<p>${said(intro)}</p>
% endif
<%form:step>
${parts.entries(fields)}
% if confirm is not None:
${form.field("confirm", rich(pgettext("console", "To go on, enter %(name)s"), name=strong(confirm)), type="text", autocomplete="off", dir="auto", required=True)}
% endif
<div class="row">
<button${html_attributes({"class": "danger" if is_dangerous else None})}>${said(button)}</button>
% for label, url in other_buttons:
<button class="quiet" formaction="${web_link(url)}" formnovalidate>${said(label)}</button>
% endfor
<a class="button quiet" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>
${parts.by_hand(commands)}

## A form of somebody's account, or only a question.
##   title_text: Message
##   about: str | None          what it is about
##   intro: Message | None      what will happen
##   fields: list[dict]         the inputs, see console/parts.mako
##   button: Message
##   other_buttons: list[(str, Message)]    more buttons, and what they decide
##   is_dangerous: bool
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="/console/parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
% if about:
<p class="asking">${strong(about)}</p>
% endif
% if intro:
<p>${translated(intro)}</p>
% endif
<%form:step>
${parts.entries(fields)}
<div class="row">
<button data-kind="${'danger' if is_dangerous else 'primary'}">${translated(button)}</button>
% for decision, label in other_buttons:
<button name="decision" value="${decision}" formnovalidate>${translated(label)}</button>
% endfor
<button data-kind="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
</div>
</%form:step>

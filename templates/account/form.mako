## A form of somebody's account, or only a question.
##   title_text: Message
##   about: str | None          what it is about
##   intro: Message | None      what will happen
##   fields: list[dict]         the inputs, see console/parts.mako
##   button: Message
##   others: list[(str, Message)]    more buttons, and what they decide
##   is_dangerous: bool
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="/console/parts.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
% if about:
<p class="asking">${strong(about)}</p>
% endif
% if intro:
<p>${said(intro)}</p>
% endif
<%form:step>
${parts.entries(fields)}
<div class="row">
<button${html_attributes({"class": "danger" if is_dangerous else None})}>${said(button)}</button>
% for decision, label in others:
<button class="quiet" name="decision" value="${decision}" formnovalidate>${said(label)}</button>
% endfor
<button class="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
</div>
</%form:step>

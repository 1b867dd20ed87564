## Asks a person to set up a second factor.
##   login_name: str
##   kinds: list[(str, Message)]    what can be set up
##   is_optional: bool              whether they may go on without
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Protect your account")}</%def>\
% if is_optional:
<p>${pgettext("factor", "With a second factor nobody gets into your account who only knows your password.")}</p>
% else:
<p>${pgettext("factor", "To go on you need a second factor, so that nobody gets into your account who only knows your password.")}</p>
% endif
<%form:step>
${form.login_name_field(login_name)}
% for kind, label in kinds:
<button name="factor" value="${kind}">${said(label)}</button>
% endfor
% if is_optional:
<button class="quiet" name="decision" value="skip">${pgettext("factor", "Not now")}</button>
% endif
</%form:step>

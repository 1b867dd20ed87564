## Asks a user to set up a second factor.
##   login_name: str
##   kinds: list[dict]      {name, icon: str, label: Message}: what can be set up
##   is_optional: bool      whether they may continue without
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Protect your account")}</%def>\
<div class="emblem">${icon("shield-check")}</div>
<p>${pgettext("factor", "A second factor protects your account even if someone learns your password.")}
% if not is_optional:
${pgettext("factor", "You need one to continue.")}
% endif
</p>
<%form:step>
${form.account_field(login_name)}
% for kind in kinds:
<button${html_attributes({"data-kind": "primary" if loop.first else None})} name="factor" value="${kind['name']}">${icon(kind["icon"])} <span>${translated(kind["label"])}</span></button>
% endfor
% if is_optional:
<button data-kind="quiet" name="decision" value="skip">${pgettext("factor", "Not now")}</button>
% endif
</%form:step>

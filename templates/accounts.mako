## The choice among the accounts that this browser knows.
##   accounts: list[dict]    {display_name, login_name: str, choice: (str, str) | None,
##                           refused_for: str | None, is_meant: bool,
##                           forgotten_by: str | None}:
##                           `choice` is what its button sends, None where it is refused for
##                           an application of another organization;
##                           `forgotten_by` takes one that is signed out from the list
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("accounts", "Choose an account")}</%def>\
<% meant = next((account for account in accounts if account["is_meant"]), None) %>\
<%form:step>
<ul class="accounts">
% for account in accounts:
<li>
% if account["choice"]:
<button class="account" name="${account['choice'][0]}" value="${account['choice'][1]}"${html_attributes({"autofocus": account is meant and not problems and retry_seconds is None})}>
${form.person(account["display_name"], account["login_name"])}
% if account["forgotten_by"]:
<span class="hint">${pgettext("accounts", "Signed out")}</span>
% endif
</button>
% else:
<div class="account">
${form.person(account["display_name"], account["login_name"])}
<p class="hint">${rich(pgettext("accounts", "%(name)s can't be used for %(app)s: it belongs to another organization."), name=isolated(account["login_name"]), app=isolated(account["refused_for"]))}</p>
</div>
% endif
% if account["forgotten_by"]:
<button class="quiet small" name="forget" value="${account['forgotten_by']}">${rich(pgettext("accounts", "Remove %(name)s from this list"), name=isolated(account["login_name"]))}</button>
% endif
</li>
% endfor
<li><button class="account" name="account" value="other">
<span class="initial" aria-hidden="true">+</span>
<span class="person"><strong>${pgettext("accounts", "Use another account")}</strong></span>
</button></li>
</ul>
</%form:step>

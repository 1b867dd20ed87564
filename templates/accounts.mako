## The choice among the accounts that this browser knows.
##   accounts: list[dict]    {display_name, login_name: str, choice: (str, str) | None,
##                           refused_for: str | None, is_hinted: bool,
##                           removal_id: str | None}:
##                           `choice` is what its button sends, None where it is refused for
##                           an application of another organization;
##                           `removal_id` removes one that is signed out from the list
##   is_edited: bool         whether accounts are removed now, and none is chosen
##   other_url: str | None   the same page, to remove accounts or to choose one; None if none can be removed
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("accounts", "Remove accounts") if is_edited else pgettext("accounts", "Choose an account")}</%def>\
<% meant = next((account for account in accounts if account["is_hinted"]), None) %>\
<%form:step>
<ul class="accounts">
% for account in accounts:
<li>
% if is_edited:
<div class="account">
${form.person(account["display_name"], account["login_name"])}
% if account["removal_id"]:
<button name="forget" value="${account['removal_id']}" aria-label="${pgettext('accounts', 'Remove %(name)s', name=account['login_name'])}">${pgettext("console", "Remove")}</button>
% else:
<span class="chip" data-kind="good">${pgettext("accounts", "Signed in")}</span>
% endif
</div>
% elif account["choice"]:
<button class="account" name="${account['choice'][0]}" value="${account['choice'][1]}"${html_attributes({"autofocus": account is meant and not problems and retry_seconds is None})}>
${form.person(account["display_name"], account["login_name"])}
% if account["removal_id"]:
<span class="chip">${pgettext("accounts", "Signed out")}</span>
% endif
</button>
% else:
<div class="account">
${form.person(account["display_name"], account["login_name"])}
<p class="hint">${rich(pgettext("accounts", "%(name)s can't be used for %(app)s: it belongs to another organization."), name=isolated(account["login_name"]), app=isolated(account["refused_for"]))}</p>
</div>
% endif
</li>
% endfor
% if not is_edited:
<li><button class="account" name="account" value="other">
<span class="initial">${icon("plus")}</span>
<span class="person"><strong>${pgettext("accounts", "Use another account")}</strong></span>
</button></li>
% endif
</ul>
</%form:step>
% if web_link(other_url):
<ul class="ways">
<li><a href="${web_link(other_url)}">${pgettext("accounts", "Done") if is_edited else pgettext("accounts", "Manage accounts")}</a></li>
</ul>
% endif

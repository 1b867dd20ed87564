## The choice among the people who signed in with this browser.
##   accounts: list[dict]    {id, display_name, login_name: str, signed_in: bool}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("accounts", "Choose an account")}</%def>\
<%form:step>
<ul class="accounts">
% for account in accounts:
<li><button class="account" name="account" value="${account['id']}">
## TRANSLATORS: State of an account in the list.
<% state = pgettext("accounts", "Signed in") if account["signed_in"] else pgettext("accounts", "Signed out") %>\
${form.person(account["display_name"], account["login_name"], state)}
</button></li>
% endfor
<li><button class="account" name="account" value="other">
<span class="initial" aria-hidden="true">+</span>
<span class="person"><strong>${pgettext("accounts", "Use another account")}</strong></span>
</button></li>
</ul>
</%form:step>

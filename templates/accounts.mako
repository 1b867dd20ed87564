## The choice among the people who signed in with this browser.
##   accounts: list[dict]    {id, display_name, login_name: str}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("accounts", "Choose an account")}</%def>\
<%form:step>
<ul class="accounts">
% for account in accounts:
<li><button class="account" name="account" value="${account['id']}">
${form.person(account["display_name"], account["login_name"])}
</button></li>
% endfor
<li><button class="account" name="account" value="other">
<span class="initial" aria-hidden="true">+</span>
<span class="person"><strong>${pgettext("accounts", "Use another account")}</strong></span>
</button></li>
</ul>
</%form:step>

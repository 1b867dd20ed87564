## Asks before signing out, when the request does not prove who asked.
##   accounts: list[dict]    {display_name, login_name: str} of every user who is signed in
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("logout", "Do you want to sign out?")}</%def>\
<%form:step>
<p>${npgettext("logout", "This account is signed in with this browser:", "These %(n)s accounts are signed in with this browser:", len(accounts))}</p>
<ul class="accounts">
% for account in accounts:
<li class="account">${form.person(account["display_name"], account["login_name"])}</li>
% endfor
</ul>
<button data-kind="primary" name="decision" value="logout">${pgettext("logout", "Sign out")}</button>
<button data-kind="quiet" name="decision" value="stay">${pgettext("logout", "Stay signed in")}</button>
</%form:step>

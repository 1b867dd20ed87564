## Where somebody is who came without an application.
##   account: dict | None     {display_name, login_name: str}; None: nobody is signed in
##   logout_url: str | None
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if account:
${pgettext("signed-in", "You are signed in")}\
% else:
${pgettext("signed-in", "Nothing to sign in to yet")}\
% endif
</%def>\
% if account:
<p class="account">${form.person(account["display_name"], account["login_name"])}</p>
<p>${pgettext("signed-in", "Open the application you want to use; it will know you.")}</p>
% if web_link(logout_url):
<p><a href="${web_link(logout_url)}">${pgettext("logout", "Sign out")}</a></p>
% endif
% else:
<p>${pgettext("signed-in", "Open the application you want to use. It will bring you here when it needs to know who you are.")}</p>
% endif

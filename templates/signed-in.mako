## Where somebody is who came without an application.
##   accounts: list[dict]    {id, display_name, login_name: str} of everybody signed in
##   account_url: str        the pages of somebody's account; `session` is added
##   logout_url: str
##   console_url: str | None    for who manages something
##   demo_url: str | None    the demonstration, on a service that has one
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if accounts:
${pgettext("signed-in", "You're signed in")}\
% else:
${pgettext("signed-in", "You're signed out")}\
% endif
</%def>\
% if accounts:
<ul class="accounts">
% for account in accounts:
<li class="account">
${form.person(account["display_name"], account["login_name"])}
<a href="${web_link(account_url)}?session=${account['id'] | u}">${pgettext("account", "Your account")}</a>
</li>
% endfor
</ul>
<p>${pgettext("signed-in", "Open the application that you want to use. You don't have to sign in again.")}</p>
% else:
<p>${pgettext("signed-in", "Open the application that you want to use. It will bring you here to sign in.")}</p>
<p><a class="button" data-kind="primary" href="${web_link(account_url)}">${pgettext("signed-in", "Sign in to your account")}</a></p>
% endif
% if accounts and web_link(application_url):
<p><a class="button" data-kind="primary" href="${web_link(application_url)}">${pgettext("signed-in", "Continue")}</a></p>
% endif
% if web_link(console_url):
<p><a class="button"${html_attributes({"data-kind": None if web_link(application_url) else "primary"})} href="${web_link(console_url)}">${pgettext("signed-in", "Open the console")}</a></p>
% endif
% if web_link(demo_url):
<p><a href="${web_link(demo_url)}">${pgettext("signed-in", "Try the demo application")}</a></p>
% endif
% if accounts:
<p><a href="${web_link(logout_url)}">${pgettext("logout", "Sign out")}</a></p>
% endif

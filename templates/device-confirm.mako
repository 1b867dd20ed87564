## Whether the application on a device, which stands elsewhere, may have what it asks for.
##   account: dict          {id, display_name, login_name: str} of who is asked
##   scopes: list           what it asks for: Message, or the name of a scope
##   back_url: str          where somebody else signs in
<%inherit file="page.mako"/>\
<%! leads_home = False %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("device", "Sign in on the device?")}</%def>\
<div class="account">${form.person(account["display_name"], account["login_name"])}</div>
<p class="beside"><a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a></p>
% if scopes:
## TRANSLATORS: A list follows, such as "your email address".
<p>${rich(pgettext("device", "%(application)s on another device wants to be signed in as you. It asks for:"), application=strong(application_name or ""))}</p>
<ul>
% for scope in scopes:
<li>${said(scope)}</li>
% endfor
</ul>
% else:
<p>${rich(pgettext("device", "%(application)s on another device wants to be signed in as you."), application=strong(application_name or ""))}</p>
% endif
<p>${pgettext("device", "Allow it only if you have that device in front of you.")}</p>
<%form:step>
<button name="decision" value="allow">${pgettext("consent", "Allow")}</button>
<button class="quiet" name="decision" value="deny">${pgettext("consent", "Don't allow")}</button>
</%form:step>

## Whether an application of others may have what it asks for.
##   account: dict          {id, display_name, login_name: str} of who is asked
##   scopes: list           what it asks for: Message, or the name of a scope
##   back_url: str          where somebody else signs in
<%inherit file="page.mako"/>\
<%! asking, leads_home = True, False %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("consent", "Allow access?")}</%def>\
<div class="account">${form.person(account["display_name"], account["login_name"])}</div>
<p class="beside"><a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a></p>
## TRANSLATORS: A list follows, such as "your email address".
<p>${rich(pgettext("consent", "%(application)s asks for:"), application=strong(application_name or ""))}</p>
<ul>
% for scope in scopes:
<li>${said(scope)}</li>
% endfor
</ul>
<%form:step>
<button name="decision" value="allow">${pgettext("consent", "Allow")}</button>
<button class="quiet" name="decision" value="deny">${pgettext("consent", "Don't allow")}</button>
</%form:step>

## Whether the application on another device may have what it asks for.
##   account: dict          {id, display_name, login_name: str} of the user who is asked
##   scopes: list[dict]     {text: Message | str, icon: str}: what it asks for; a scope that is not
##                          known is its name
##   back_url: str          where another user signs in
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("device", "Sign in on the device?")}</%def>\
${form.whose(account, back_url)}
% if scopes:
## TRANSLATORS: A list follows, such as "See your email address".
<p>${rich(pgettext("device", "%(application)s on another device wants to sign in as you and to:"), application=strong(application_name or ""))}</p>
${form.scope_list(scopes)}
% else:
<p>${rich(pgettext("device", "%(application)s on another device wants to sign in as you."), application=strong(application_name or ""))}</p>
% endif
<p class="notice" data-kind="warning">${icon("triangle-alert")} <span>${pgettext("device", "Allow it only if you have that device in front of you.")}</span></p>
<%form:step>
<div class="two">
<button data-kind="primary" name="decision" value="allow">${pgettext("consent", "Allow")}</button>
<button name="decision" value="deny">${pgettext("consent", "Don't allow")}</button>
</div>
</%form:step>

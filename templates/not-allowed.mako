## The user who is signed in may not use the application.
##   account: dict          {id, display_name, login_name: str} of the user who is signed in
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("not-allowed", "This account can't be used here")}</%def>\
<div class="account">${form.person(account["display_name"], account["login_name"])}</div>
<p>${rich(pgettext("not-allowed", "%(application)s isn't open to this account. If you need it, ask its administrators for access."), application=strong(application_name or ""))}</p>
<%form:step>
<button data-kind="primary" name="account" value="other">${pgettext("accounts", "Use another account")}</button>
</%form:step>
${form.for_support()}

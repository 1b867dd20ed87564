## Whoever is signed in may not use the application.
##   account: dict          {id, display_name, login_name: str} of who is signed in
##   request_id: str
<%inherit file="page.mako"/>\
<%! leads_home = False %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("not-allowed", "This account can't be used here")}</%def>\
<div class="account">${form.person(account["display_name"], account["login_name"])}</div>
<p>${rich(pgettext("not-allowed", "%(application)s is not open to this account. If you need it, ask those who run it to let you in."), application=strong(application_name or ""))}</p>
<p class="hint">${rich(pgettext("explain", "Number of this request: %(id)s"), id=code(request_id))}</p>
<%form:step>
<button name="account" value="other">${pgettext("accounts", "Use another account")}</button>
</%form:step>

## Whether an account is linked to the identity with which a user has signed in elsewhere.
##   provider: str     the connection's name
##   identity: str     how the provider names the user
##   identity_id: str  which identity the form confirms
##   account: dict     {id, display_name, login_name: str} of the user who has signed in here
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("idp-link", "Link your account")}</%def>\
<div class="account">${form.person(account["display_name"], account["login_name"])}</div>
<p>${rich(pgettext("idp-link", "Anyone who signs in with %(provider)s as %(identity)s will be signed in to this account. Link it only if that is you."), provider=strong(provider), identity=strong(identity))}</p>
<%form:step>
<input type="hidden" name="identity" value="${identity_id}">
<input type="hidden" name="account" value="${account['id']}">
<button data-kind="primary" name="choice" value="link">${pgettext("idp-link", "Link this account")}</button>
<button name="choice" value="no">${pgettext("idp-link", "Continue without linking")}</button>
</%form:step>

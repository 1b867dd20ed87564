## Second step: the password.
##   login_name: str    as it was typed
##   back_url: str      the first step again
##   passkey_url: str | None  for a user with a passkey; None where no user signs in by one
##   providers: ProviderButtons | None   other identity providers (form.mako)
##   reset_url: str | None    for a user who has forgotten it; None where that is not offered
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("password", "Enter your password")}</%def>\
<%form:step cancels_below="${bool(providers)}">
${form.account_field(login_name, back_url)}
${form.password_field("password", pgettext("page", "Password"), "current-password",
    enterkeyhint="go", required=True, autofocus=not problems and retry_seconds is None)}
% if web_link(reset_url):
<p class="beside"><a href="${web_link(reset_url)}">${pgettext("reset", "Forgot password?")}</a></p>
% endif
<button data-kind="primary">${pgettext("password", "Sign in")}</button>
% if web_link(passkey_url):
${webauthn.way(passkey_url, pgettext("passkey", "Use a passkey instead"))}
% endif
</%form:step>
${form.other_providers(providers)}

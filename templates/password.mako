## Second step: the password.
##   login_name: str    as it was typed
##   back_url: str      the first step again
##   passkey_url: str | None  for who has a passkey; None where nobody signs in by one
##   reset_url: str | None    for who has forgotten it; None where that is not offered
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("password", "Enter your password")}</%def>\
<%form:step>
${form.login_name_field(login_name)}
<p class="beside"><a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a></p>
${form.password_field("password", pgettext("page", "Password"), "current-password",
    enterkeyhint="go", required=True, autofocus=not problems and retry_seconds is None)}
<button>${pgettext("password", "Sign in")}</button>
</%form:step>
% if web_link(passkey_url):
${webauthn.way(passkey_url, pgettext("passkey", "Sign in with a passkey"))}
% endif
% if web_link(reset_url):
<p><a href="${web_link(reset_url)}">${pgettext("reset", "Forgot your password?")}</a></p>
% endif

## Signing in by a passkey.
##   login_name: str | None     of whom it is asked for; None: whoever it is
##   options: str               what the browser is asked for, as JSON
##   other_url: str             another way to sign in
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("passkey", "Use your passkey")}</%def>\
<%
    nothing = pgettext("passkey", "Nothing was received from your device. Try again.")
    if login_name is None:
        nothing = pgettext("passkey", "Nothing was received from your device. Try again or use your password.")
%>\
${webauthn.unable()}
<%form:step>
% if login_name is not None:
${form.login_name_field(login_name)}
% endif
${webauthn.ask("get", options, pgettext("passkey", "Sign in with a passkey"), nothing)}
</%form:step>
<p><a href="${web_link(other_url)}">${pgettext("passkey", "Sign in in another way")}</a></p>

## Signing in by a passkey.
##   login_name: str | None     of whom it is asked for; None: any user
##   options: str               what the browser is asked for, as JSON
##   other_label: Message       another way to sign in
##   other_url: str
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("passkey", "Use your passkey")}</%def>\
<%
    nothing = pgettext("passkey", "We got no response from your device. Try again.")
    if login_name is None:
        nothing = pgettext("passkey", "We got no response from your device. Try again or use your password.")
%>\
<div class="emblem">${icon("fingerprint-pattern")}</div>
${webauthn.unable()}
<%form:step>
% if login_name is not None:
${form.account_field(login_name)}
% endif
${webauthn.ask("get", options, pgettext("passkey", "Use your passkey"), nothing)}
</%form:step>
<ul class="ways">
<li><a href="${web_link(other_url)}">${translated(other_label)}</a></li>
</ul>

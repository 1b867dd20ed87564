## A new passkey: it gets a name, and the user's device creates it.
##   login_name: str
##   device_name: str       what it is called at first
##   maximum: int           how long a name may be
##   options: str           what the browser is asked for, as JSON
##   is_optional: bool      whether they may choose another factor
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("passkey", "Add a passkey")}</%def>\
<div class="emblem">${icon("fingerprint-pattern")}</div>
<p>${pgettext("passkey", "Sign in with your fingerprint, face or screen lock instead of a password.")}</p>
${webauthn.unable()}
<%form:step>
${form.account_field(login_name)}
${form.field("deviceName", pgettext("passkey", "Passkey name"),
    hint=pgettext("passkey", "For example, the name of the device."),
    type="text", value=device_name, maxlength=maximum, required=True, autocomplete="off", dir="auto")}
${webauthn.ask("create", options, pgettext("passkey", "Add a passkey"),
    pgettext("passkey", "We got no response from your device. Try again."))}
% if is_optional:
<button data-kind="quiet" name="decision" value="other" formnovalidate>${pgettext("factor", "Choose another method")}</button>
% endif
</%form:step>

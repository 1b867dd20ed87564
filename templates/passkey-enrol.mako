## A new passkey: it gets a name, and the person's device makes it.
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
<p>${pgettext("passkey", "A passkey is kept by your phone, your computer or a security key. You sign in by its screen lock, without a password.")}</p>
${webauthn.unable()}
<%form:step>
${form.login_name_field(login_name)}
${form.field("deviceName", pgettext("passkey", "Name of the passkey"),
    hint=pgettext("passkey", "By which you will know it again, such as the name of the device."),
    type="text", value=device_name, maxlength=maximum, required=True, autocomplete="off", dir="auto")}
${webauthn.ask("create", options, pgettext("passkey", "Add a passkey"),
    pgettext("passkey", "Nothing was received from your device. Try again."))}
% if is_optional:
<button class="quiet" name="decision" value="other" formnovalidate>${pgettext("factor", "Choose something else")}</button>
% endif
</%form:step>

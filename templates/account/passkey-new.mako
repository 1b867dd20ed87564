## A new passkey: it gets a name, and the person's device makes it.
##   typed: str        what it is called at first
##   maximum: int      how long a name may be
##   options: str      what the browser is asked for, as JSON
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="webauthn" file="/webauthn.mako"/>\
<%def name="title()">${pgettext("passkey", "Add a passkey")}</%def>\
${webauthn.unable()}
<%form:step>
${form.field("name", pgettext("passkey", "Name"),
    hint=pgettext("passkey", "By which you will know it again, such as the name of the device."),
    type="text", value=typed, maxlength=maximum, required=True, autocomplete="off", dir="auto")}
${webauthn.ask("create", options, pgettext("passkey", "Add a passkey"),
    pgettext("passkey", "Nothing was received from your device. Try again."))}
<button class="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
</%form:step>

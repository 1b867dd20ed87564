## Asks for the code that a device without a browser of its own shows (RFC 8628 3.3).
##   entered: str    what the field holds at first; the device's link fills it in
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("device", "Connect a device")}</%def>\
<p>${pgettext("device", "Enter the code that your device shows.")}
${pgettext("device", "Don't enter a code that someone else sent you: they could use your account.")}</p>
<%form:step>
${form.code_field("userCode", pgettext("device", "Code"), pgettext("device", "8 letters, such as WDJB-MJHT"),
    value=entered, autocomplete="off", inputmode=None, autocapitalize="characters")}
<button data-kind="primary">${pgettext("page", "Continue")}</button>
</%form:step>

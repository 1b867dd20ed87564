## Asks for the code that a device without a browser of its own shows (RFC 8628 3.3).
##   typed: str    what the field holds at first; the device's link fills it in
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("device", "Connect a device")}</%def>\
<p>${pgettext("device", "Type the code that your device shows. Somebody who sends you a code or reads one out to you wants to use your account.")}</p>
<%form:step>
${form.field("userCode", pgettext("device", "Code"),
    hint=pgettext("device", "8 letters, such as WDJB-MJHT; small letters and spaces do not matter."),
    type="text", value=typed, autocomplete="off", autocapitalize="characters", spellcheck="false",
    enterkeyhint="done", dir="ltr", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>

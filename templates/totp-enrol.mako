## Setting up an authenticator app.
##   login_name: str
##   picture: str           what the app reads by the camera, in SVG
##   app_url: str           the same as an address, for an app on this device
##   secret: str            the same to be typed, in groups
##   device_name: str       what the person calls the device
##   is_optional: bool      whether they may choose another factor
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Set up your authenticator app")}</%def>\
<p>${pgettext("factor", "Scan this picture with an authenticator app. It then shows a new code every 30 seconds.")}</p>
<div class="picture" role="img" aria-label="${pgettext('factor', 'A QR code that holds the key below')}">${Markup(picture)}</div>
<p><a href="${app_url}">${pgettext("factor", "The app is on this device: open it")}</a></p>
<p>${pgettext("factor", "Or type this key into the app:")}</p>
<p class="fact"><code class="key" dir="ltr">${secret}</code></p>
<%form:step>
${form.login_name_field(login_name)}
${form.field("code", pgettext("factor", "Code that the app shows"),
    hint=pgettext("factor", "6 digits; spaces do not matter."), type="text", value="",
    autocomplete="one-time-code", inputmode="numeric", autocapitalize="none", spellcheck="false",
    enterkeyhint="done", dir="ltr", required=True)}
${form.field("deviceName", pgettext("factor", "Name of the device, if you like"), type="text",
    value=device_name, autocomplete="off", maxlength=100, dir="auto")}
<button>${pgettext("page", "Continue")}</button>
% if is_optional:
<button class="quiet" name="decision" value="other" formnovalidate>${pgettext("factor", "Choose something else")}</button>
% endif
</%form:step>

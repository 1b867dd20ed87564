## Setting up an authenticator app.
##   login_name: str
##   picture: str           what the app reads by the camera, in SVG
##   app_url: str           the same as an address, for an app on this device
##   secret: str            the same to be typed, in groups
##   device_name: str       what the user calls the device
##   is_optional: bool      whether they may choose another factor
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Set up your authenticator app")}</%def>\
<ol class="numbered">
<li>
<h2>${pgettext("factor", "Scan this QR code with your authenticator app")}</h2>
<div class="picture" role="img" aria-label="${pgettext('factor', 'A QR code that contains the key below')}">${Markup(picture)}</div>
<p><a href="${app_url}">${pgettext("factor", "Open the app on this device")}</a></p>
</li>
<li>
<h2>${pgettext("factor", "Or enter this key in the app")}</h2>
${form.copied(secret, "key")}
</li>
<li>
<h2>${pgettext("factor", "Enter the code that the app shows")}</h2>
<%form:step>
${form.account_field(login_name)}
${form.code_field("code", pgettext("verify-email", "Code"), pgettext("factor", "6 digits"), may_focus=False)}
${form.field("deviceName", pgettext("factor", "Device name (optional)"), type="text",
    value=device_name, autocomplete="off", maxlength=100, dir="auto")}
<button data-kind="primary">${pgettext("verify-email", "Verify")}</button>
% if is_optional:
<button data-kind="quiet" name="decision" value="other" formnovalidate>${pgettext("factor", "Choose another method")}</button>
% endif
</%form:step>
</li>
</ol>

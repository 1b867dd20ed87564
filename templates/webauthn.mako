## What asks a person's device for a passkey: see static/passkey.js, without which it stays hidden.

## `method` is `get` or `create`, `options` what the browser is asked for, as JSON; with `names`, it
## also offers passkeys where it fills in names.
<%def name="ask(method, options, label, names=False, css=None)">
<div class="passkey"${html_attributes({"data-passkey": method, "data-options": options, "data-names": names})}>
<input type="hidden" name="passkey" value="">
<button type="button" data-able hidden${html_attributes({"class": css})}>${label}</button>
<div class="problem" role="alert">
% if method == "get":
<p data-when="nothing" hidden>${pgettext("passkey", "Nothing was received from your device. Try again or use your password.")}</p>
% else:
<p data-when="nothing" hidden>${pgettext("passkey", "Nothing was received from your device. Try again.")}</p>
<p data-when="known" hidden>${pgettext("passkey", "This device has a passkey for your account already.")}</p>
% endif
</div>
<script src="${static_url('passkey.js')}" defer></script>
</div>
</%def>

<%def name="unable()">
<p class="notice" data-unable>${pgettext("passkey", "Your browser can't use passkeys here. It needs scripts, and a screen lock or a security key.")}</p>
</%def>

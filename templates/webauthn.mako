## What asks a person's device for a passkey: see static/passkey.js, without which it stays hidden.

## `method` is `get` or `create`, `options` what the browser is asked for, as JSON; with `names`, it
## also offers passkeys where it fills in names. `nothing` is said when no answer came.
<%def name="ask(method, options, label, nothing, names=False, css=None)">
<div class="passkey"${html_attributes({"data-passkey": method, "data-options": options, "data-names": names})}>
<input type="hidden" name="passkey" value="">
<button type="button" data-able hidden${html_attributes({"class": css})}>${label}</button>
<div class="problem">
<p data-when="nothing" hidden>${nothing}</p>
% if method == "create":
<p data-when="known" hidden>${pgettext("passkey", "This device has a passkey for your account already.")}</p>
% endif
</div>
<script src="${static_url('passkey.js')}" defer></script>
</div>
</%def>

## A link for those who have a passkey, and a browser that can use it.
<%def name="way(url, label)">
<p data-able hidden><a href="${web_link(url)}">${label}</a></p>
<script src="${static_url('passkey.js')}" defer></script>
</%def>

<%def name="unable()">
<p class="notice" data-unable>${pgettext("passkey", "Your browser can't use passkeys here. It needs scripts, and a screen lock or a security key.")}</p>
</%def>

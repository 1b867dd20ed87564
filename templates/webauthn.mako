## What asks a user's device for a passkey: see static/passkey.js, without which it stays hidden.

## `method` is `get` or `create`, `options` what the browser is asked for, as JSON; with `names`, it
## also offers passkeys where it fills in names. `nothing` is shown when no answer came. With
## `is_other_way`, it stands below the page's primary action.
<%def name="ask(method, options, label, nothing, names=False, is_other_way=False)">
<div class="passkey"${html_attributes({"data-passkey": method, "data-options": options, "data-names": names})}>
<input type="hidden" name="passkey" value="">
% if is_other_way:
## TRANSLATORS: Between two ways to sign in.
<p class="or" data-able hidden>${pgettext("page", "or")}</p>
% endif
<button type="button" data-able hidden${html_attributes({"data-kind": None if is_other_way else "primary"})}>${icon("fingerprint-pattern")} <span>${label}</span></button>
<div class="problem">
<p data-when="nothing" hidden>${icon("circle-alert")} ${nothing}</p>
% if method == "create":
<p data-when="known" hidden>${icon("circle-alert")} ${pgettext("passkey", "This device already has a passkey for your account.")}</p>
% endif
</div>
<script src="${static_url('passkey.js')}" defer></script>
</div>
</%def>

## A link for users with a passkey and a browser that can use it.
<%def name="way(url, label)">
<p class="way" data-able hidden><a href="${web_link(url)}">${label}</a></p>
<script src="${static_url('passkey.js')}" defer></script>
</%def>

<%def name="unable()">
<p class="notice" data-unable>${icon("info")} <span>${pgettext("passkey", "Your browser can't use passkeys here. Passkeys need JavaScript, and a screen lock or a security key.")}</span></p>
</%def>

## A user's passkeys.
##   passkeys: list[dict]     {name: str, created: datetime, used: datetime | None, is_backed_up: bool,
##                            rename_url, remove_url: str}
##   new_url: str | None      where one more is created; None where that isn't possible
<%inherit file="frame.mako"/>\
<%def name="title()">${pgettext("passkey", "Passkeys")}</%def>\
<p>${pgettext("passkey", "Sign in with your fingerprint, face or screen lock instead of a password.")}</p>
% if passkeys:
<ul class="entries">
% for passkey in passkeys:
<li>${icon("fingerprint-pattern")}
<div>
<h2><bdi>${passkey["name"]}</bdi></h2>
<p class="hint">${rich(pgettext("passkey", "Added %(when)s"), when=moment(passkey["created"], "relative"))}\
% if passkey["used"]:
 · ${rich(pgettext("account", "last used %(when)s"), when=moment(passkey["used"], "relative"))}\
% endif
</p>
% if passkey["is_backed_up"]:
<p class="hint">${pgettext("passkey", "Backed up to your device's account.")}</p>
% endif
</div>
<ul class="links">
<li><a href="${web_link(passkey['rename_url'])}">${pgettext("passkey", "Rename")}</a></li>
<li><a href="${web_link(passkey['remove_url'])}">${pgettext("console", "Remove")}</a></li>
</ul>
</li>
% endfor
</ul>
% endif
% if web_link(new_url):
<p><a class="button" data-kind="primary" href="${web_link(new_url)}">${icon("plus")} <span>${pgettext("passkey", "Add a passkey")}</span></a></p>
% endif

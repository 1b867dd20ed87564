## Somebody's passkeys.
##   passkeys: list[dict]     {name, created: str, used: str | None, is_backed_up: bool,
##                            rename_url, remove_url: str}
##   new_url: str | None      where one more is made; None where that can't be
<%inherit file="frame.mako"/>\
<%def name="title()">${pgettext("passkey", "Passkeys")}</%def>\
<p>${pgettext("passkey", "A passkey is kept by your phone, your computer or a security key. You sign in by its screen lock, without a password.")}</p>
% if passkeys:
<ul class="passkeys">
% for passkey in passkeys:
<li>
<p><strong><bdi>${passkey["name"]}</bdi></strong></p>
<p class="hint">${pgettext("passkey", "Added on %(date)s.", date=passkey["created"])}
% if passkey["used"]:
${pgettext("passkey", "Last used on %(date)s.", date=passkey["used"])}
% endif
% if passkey["is_backed_up"]:
${pgettext("passkey", "Your device's account keeps a copy.")}
% endif
</p>
<p class="row"><a href="${web_link(passkey['rename_url'])}">${pgettext("passkey", "Rename")}</a>
<a href="${web_link(passkey['remove_url'])}">${pgettext("console", "Remove")}</a></p>
</li>
% endfor
</ul>
% endif
% if web_link(new_url):
<p><a class="button" href="${web_link(new_url)}">${pgettext("passkey", "Add a passkey")}</a></p>
% endif

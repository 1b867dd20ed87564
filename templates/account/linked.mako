## The identities at other providers that a user has linked.
##   linked: list[dict]    {provider, icon, identity: str, linked_at: datetime, remove_url: str}
<%inherit file="frame.mako"/>\
<%def name="title()">${pgettext("account", "Linked identity providers")}</%def>\
% if linked:
<p>${pgettext("account", "You can sign in to this account with these identity providers.")}</p>
<ul class="entries">
% for link in linked:
<li>${icon(link["icon"])}
<div>
<h2><bdi>${link["provider"]}</bdi></h2>
<p class="hint"><bdi>${link["identity"]}</bdi></p>
<p class="hint">${rich(pgettext("account", "Linked %(when)s"), when=moment(link["linked_at"], "relative"))}</p>
</div>
<ul class="links">
<li><a href="${web_link(link['remove_url'])}">${pgettext("console", "Remove")}</a></li>
</ul>
</li>
% endfor
</ul>
% else:
<p>${pgettext("account", "No linked identity providers.")}</p>
% endif

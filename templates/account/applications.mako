## The applications that a user has given access.
##   applications: list[dict]    {id, name: str, scopes: list[Message | str], authorized_at: datetime}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("account", "My applications")}</%def>\
% if applications:
<p>${pgettext("account", "These applications have access to your account. If you revoke access, the application has to ask you again.")}</p>
<%form:step>
<ul class="entries">
% for application in applications:
<li><span class="initial" aria-hidden="true">${application["name"][:1].upper()}</span>
<div>
<h2><bdi>${application["name"]}</bdi></h2>
<ul>
% for scope in application["scopes"]:
<li>${translated(scope)}</li>
% endfor
</ul>
<p class="hint">${rich(pgettext("account", "Since %(when)s"), when=moment(application["authorized_at"], "relative"))}</p>
</div>
<button name="application" value="${application['id']}" aria-label="${pgettext('account', 'Revoke access of %(name)s', name=application['name'])}">${pgettext("account", "Revoke")}</button>
</li>
% endfor
</ul>
</%form:step>
% else:
<p class="empty">${icon("app-window")} <span>${pgettext("account", "No application has access to your account.")}</span></p>
% endif

## The applications that somebody has let in.
##   applications: list[dict]    {id, name: str, scopes: list[Message | str], since: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("account", "Connected applications")}</%def>\
% if applications:
<p>${pgettext("account", "This is what you let applications have. If you take it back, they ask you again.")}</p>
<%form:step>
<ul class="entries">
% for application in applications:
<li><div>
<h2><bdi>${application["name"]}</bdi></h2>
<ul>
% for scope in application["scopes"]:
<li>${said(scope)}</li>
% endfor
</ul>
<p class="hint">${pgettext("account", "Since")}: <time dir="ltr">${application["since"]}</time></p>
</div>
<button class="quiet" name="application" value="${application['id']}">${pgettext("account", "Take back")}</button>
</li>
% endfor
</ul>
</%form:step>
% else:
<p>${pgettext("account", "You let no application have anything.")}</p>
% endif

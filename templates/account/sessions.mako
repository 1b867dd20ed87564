## Where a user is signed in.
##   sessions: list[dict]    {id: str, browser, system: str | None, is_this: bool,
##                         signed_in_at: datetime, last: datetime},
##                           the present one first
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("users", "Sessions")}</%def>\
<%def name="browser_of(session)">\
% if session["browser"] and session["system"]:
${rich(pgettext("account", "%(browser)s on %(system)s"), browser=isolated(session["browser"]), system=isolated(session["system"]))}\
% elif session["browser"] or session["system"]:
<bdi>${session["browser"] or session["system"]}</bdi>\
% else:
${pgettext("account", "A browser")}\
% endif
</%def>\
<%form:step>
<ul class="entries">
% for session in sessions:
<li>${icon("monitor-smartphone")}
<div>
<h2>${browser_of(session)}</h2>
<p class="hint">${pgettext("users", "Signed in")}: ${moment(session["signed_in_at"])}</p>
<p class="hint">${pgettext("users", "Last used")}: ${moment(session["last"], "relative")}</p>
</div>
% if session["is_this"]:
<p><span class="chip" data-kind="good">${pgettext("account", "This browser")}</span></p>
% else:
<button name="session" value="${session['id']}">${pgettext("logout", "Sign out")}</button>
% endif
</li>
% endfor
</ul>
% if len(sessions) > 1:
<div class="row">
<button data-kind="danger" name="decision" value="others">${pgettext("account", "Sign out everywhere else")}</button>
</div>
% endif
</%form:step>

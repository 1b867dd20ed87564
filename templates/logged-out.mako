## After signing out.
##   frames: list[str]      addresses of applications to be told, each opened in a frame
##   onward: str | None     where the browser goes on by itself, and whoever does not want to wait
<%inherit file="page.mako"/>\
<%! leads_home = False %>\
<%def name="title()">${pgettext("logout", "You are signed out")}</%def>\
% if web_link(onward):
<p role="status">${pgettext("logout", "You are being signed out of other applications as well. This takes a moment.")}</p>
% else:
<p>${pgettext("logout", "On a computer that others use too, close the browser now.")}</p>
% endif
% if web_link(onward) and application_name:
<p><a class="button" href="${web_link(onward)}">${rich(pgettext("page", "Back to %(application)s"), application=strong(application_name))}</a></p>
% elif web_link(onward):
<p><a class="button" href="${web_link(onward)}">${pgettext("logout", "Go on")}</a></p>
% elif web_link(application_url) and application_name:
<p><a class="button" href="${web_link(application_url)}">${rich(pgettext("page", "Back to %(application)s"), application=strong(application_name))}</a></p>
% else:
<p><a href="/">${pgettext("page", "Go to the start page")}</a></p>
% endif
% for frame in frames:
% if web_link(frame):
## Its own scripts and cookies, but not this window.
<iframe hidden sandbox="allow-scripts allow-same-origin allow-forms" src="${web_link(frame)}"></iframe>
% endif
% endfor

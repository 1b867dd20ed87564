## After signing out.
##   frames: list[str]      addresses of applications to be told, each opened in a frame
##   redirect_url: str | None     where the browser continues automatically, and a user who doesn't want to wait
<%inherit file="page.mako"/>\
<%def name="title()">${pgettext("logout", "You're signed out")}</%def>\
% if web_link(redirect_url):
<p role="status">${pgettext("logout", "We're signing you out of other applications. This takes a moment.")}</p>
<progress aria-label="${pgettext('logout', 'Signing out')}"></progress>
% else:
<div class="emblem">${icon("circle-check")}</div>
<p>${pgettext("logout", "On a shared computer, close the browser now.")}</p>
% endif
<p><a class="button" data-kind="primary" \
% if web_link(redirect_url):
href="${web_link(redirect_url)}">\
% elif web_link(application_url) and application_name:
href="${web_link(application_url)}">\
% else:
href="/">\
% endif
% if application_name and (web_link(redirect_url) or web_link(application_url)):
${rich(pgettext("page", "Back to %(application)s"), application=isolated(application_name))}\
% elif web_link(redirect_url):
${pgettext("logout", "Continue")}\
% else:
${pgettext("logout", "Sign in again")}\
% endif
</a></p>
% for frame in frames:
% if web_link(frame):
## Its own scripts and cookies, but not this window.
<iframe hidden sandbox="allow-scripts allow-same-origin allow-forms" src="${web_link(frame)}"></iframe>
% endif
% endfor

## The request behind a step can't continue: too late, another browser, a bookmark.
##   sentence: Message | str           what has happened
##   again_url: str | None             where the message that led here is requested once more
##   has_cookie: bool                  whether the browser sent the cookie that it was given
## The user may start again at `application_url`.
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("expired", "Start again")}</%def>\
<% start = web_link(application_url) %>\
<p>${translated(sentence)}</p>
% if not start and application_name:
<p>${rich(pgettext("expired", "Go back to %(application)s and sign in there."), application=strong(application_name))}</p>
% elif not start:
<p>${pgettext("expired", "Go back to the application you want to use and sign in there.")}</p>
% endif
% if web_link(again_url):
<p><a class="button" data-kind="primary" href="${web_link(again_url)}">${pgettext("expired", "Request a new one")}</a></p>
% endif
<p><a class="button"${html_attributes({"data-kind": None if web_link(again_url) else "primary"})} href="${start or '/'}">\
% if start and application_name:
${rich(pgettext("expired", "Start again at %(application)s"), application=isolated(application_name))}\
% elif start:
${pgettext("expired", "Start again")}\
% else:
${pgettext("page", "Go to the start page")}\
% endif
</a></p>
${form.for_support()}
% if not has_cookie:
<p class="hint">${pgettext("expired", "If this happens every time, your browser is blocking the cookie that this site needs. Allow it, then start again.")}</p>
% endif

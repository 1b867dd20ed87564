## The request behind a step is gone: too late, another browser, a bookmark.
##   sentence: Message | str | None    what has happened; None: a sign-in
##   again_url: str | None             where the mail that brought here is asked for once more
##   has_cookie: bool                  whether the browser sent the cookie that it was given
## Whoever asked may begin anew at `application_url`.
<%inherit file="page.mako"/>\
<%! leads_home = False %>\
<%def name="title()">${pgettext("expired", "Please start again")}</%def>\
<% start = web_link(application_url) %>\
% if sentence:
<p>${said(sentence)}</p>
% else:
<p>${pgettext("expired", "This sign-in took too long or was opened in another browser. Nothing is lost — start again.")}</p>
% endif
% if web_link(again_url):
<p><a class="button" href="${web_link(again_url)}">${pgettext("expired", "Ask for a new one")}</a></p>
% endif
% if start and application_name:
<p><a class="button${" quiet" if again_url else ""}" href="${start}">${rich(pgettext("expired", "Start again at %(application)s"), application=strong(application_name))}</a></p>
% elif start:
<p><a class="button${" quiet" if again_url else ""}" href="${start}">${pgettext("expired", "Start again")}</a></p>
% else:
% if application_name:
<p>${rich(pgettext("expired", "Go back to %(application)s and sign in there."), application=strong(application_name))}</p>
% else:
<p>${pgettext("expired", "Go back to the application you want to use and sign in there.")}</p>
% endif
<p><a href="/">${pgettext("page", "Go to the start page")}</a></p>
% endif
% if not has_cookie:
<p class="hint">${pgettext("expired", "If this happens each time: your browser sends this site no cookies. It needs one to know your sign-in from others. Allow it, then start again.")}</p>
% endif

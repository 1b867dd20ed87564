## After signing out.
<%inherit file="page.mako"/>\
<%! leads_home = False %>\
<%def name="title()">${pgettext("logout", "You are signed out")}</%def>\
<p>${pgettext("logout", "On a computer that others use too, close the browser now.")}</p>
% if web_link(application_url) and application_name:
<p><a class="button" href="${web_link(application_url)}">${rich(pgettext("page", "Back to %(application)s"), application=strong(application_name))}</a></p>
% else:
<p><a href="/">${pgettext("page", "Go to the start page")}</a></p>
% endif

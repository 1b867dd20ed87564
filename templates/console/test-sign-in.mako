## Before a sign-in to an application is tried.
##   about: str         the application's
##   is_active: bool
##   back_url: str
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("applications", "Test sign-in")}</%def>\
<p class="asking"><strong><bdi>${about}</bdi></strong></p>
<p>${pgettext("test-sign-in", "You sign in as the application would ask you to, with your own account. Its request passes every check, and then you see what it would be told of you.")}</p>
<p>${pgettext("test-sign-in", "The application itself gets nothing: no code and no token.")}</p>
% if not is_active:
<p class="notice">${pgettext("test-sign-in", "The application is deactivated: nobody can sign in to it.")}</p>
% endif
<%form:step>
<div class="row">
<button>${pgettext("test-sign-in", "Sign in")}</button>
<a class="button quiet" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>

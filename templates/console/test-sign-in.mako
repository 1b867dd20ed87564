## Before a sign-in to an application is tried.
##   about: str         the application's
##   is_active: bool
##   back_url: str
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("applications", "Test sign-in")}</%def>\
<p class="asking"><strong><bdi>${about}</bdi></strong></p>
<p>${pgettext("test-sign-in", "Sign in with your own account. The request goes through the same checks as the application's. Then you see the claims that it would receive.")}</p>
<p>${pgettext("test-sign-in", "The application receives nothing: no code and no token.")}</p>
% if not is_active:
<p class="notice">${pgettext("test-sign-in", "The application is deactivated: users can't sign in to it.")}</p>
% endif
<%form:step>
<div class="row">
<button data-kind="primary">${pgettext("test-sign-in", "Sign in")}</button>
<a class="button" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>

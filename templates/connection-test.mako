## The test of a connection to another identity provider: its beginning and its end.
##   provider: str            the name of the connection, at the beginning
##   result_url: str | None   where the result is, once the test is over
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if result_url:
${pgettext("connection-test", "The test is finished")}\
% else:
${pgettext("connection-test", "Test a connection")}\
% endif
</%def>\
% if result_url:
<p>${pgettext("connection-test", "No account was changed, and you were not signed in.")}</p>
<p><a class="button" data-kind="primary" href="${web_link(result_url)}">${pgettext("connection-test", "View the result")}</a></p>
<p class="hint">${pgettext("connection-test", "Only administrators of the connection can view it.")}</p>
% else:
<p>${rich(pgettext("connection-test", "You sign in with %(name)s. No account is changed, and you are not signed in here."), name=strong(provider))}</p>
<p>${pgettext("connection-test", "For a day, administrators of the connection can view what the provider states, such as your name.")}</p>
<%form:step>
<button data-kind="primary">${rich(pgettext("providers", "Continue with %(name)s"), name=isolated(provider))}</button>
</%form:step>
% endif

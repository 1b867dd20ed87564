## The answer to an application, which the browser posts there: by itself, or by the button.
<%inherit file="page.mako"/>\
<%! has_languages = False %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("form-post", "One moment")}</%def>\
% if application_name:
<p>${rich(pgettext("form-post", "We're taking you back to %(application)s."), application=strong(application_name))}</p>
% endif
<p>${pgettext("form-post", "If nothing happens, select Continue.")}</p>
<%form:step>
<button data-kind="primary">${pgettext("form-post", "Continue")}</button>
</%form:step>

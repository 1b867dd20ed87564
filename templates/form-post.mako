## The answer to an application, which the browser posts there: by itself, or by the button.
<%inherit file="page.mako"/>\
<%! leads_home, has_languages = False, False %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("form-post", "One moment")}</%def>\
% if application_name:
<p>${rich(pgettext("form-post", "Your browser goes back to %(application)s."), application=strong(application_name))}</p>
% endif
<p>${pgettext("form-post", "If nothing happens, press the button.")}</p>
<%form:step>
<button>${pgettext("form-post", "Go on")}</button>
</%form:step>

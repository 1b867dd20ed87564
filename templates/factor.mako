## The choice among the ways in which a person can confirm who they are.
##   login_name: str
##   choices: list[(Message, str)]    what each is, and where it is asked for
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Confirm that it is you")}</%def>\
% if choices:
<ul class="ways" aria-label="${pgettext('factor', 'Ways to confirm it')}">
% for label, url in choices:
<li><a class="button quiet" href="${web_link(url)}">${said(label)}</a></li>
% endfor
</ul>
% endif
<p>${pgettext("factor", "If none of these is at hand, ask the people who run this service for help.")}</p>
<%form:step>
${form.login_name_field(login_name)}
</%form:step>

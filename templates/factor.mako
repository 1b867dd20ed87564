## The choice among the ways in which a user can verify who they are.
##   login_name: str
##   choices: list[dict]        {label, hint: Message, icon, url: str}: what each is, and where it is
##                              asked for; the one that was used last is first
##   support_url: str | None    where the user gets help
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Verify that it's you")}</%def>\
% if choices:
<ul class="accounts" aria-label="${pgettext('factor', 'Authentication methods')}">
% for choice in choices:
<li><a class="button account"${html_attributes({"data-kind": "primary" if loop.first else None})} href="${web_link(choice['url'])}">
${icon(choice["icon"])}
<span class="person"><strong>${translated(choice["label"])}</strong> <span>${translated(choice["hint"])}</span></span>
${icon("chevron-right")}
</a></li>
% endfor
</ul>
% endif
<%form:step>
${form.account_field(login_name)}
</%form:step>
% if support_url:
<ul class="ways">
<li><a href="${support_url}">${pgettext("factor", "I can't use any of these")}</a></li>
</ul>
% else:
<p class="hint">${pgettext("factor", "Can't use any of these? Contact support.")}</p>
% endif

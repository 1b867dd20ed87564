## In which organization somebody opens an account.
##   organizations: list[dict]    {id, name, domain: str}
##   login_url: str               for who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("organization", "Choose your organization")}</%def>\
<p class="beside"><a href="${web_link(login_url)}">${pgettext("register", "You have an account? Sign in")}</a></p>
<%form:step>
<ul class="accounts">
% for organization in organizations:
<li><button class="account" name="organization" value="${organization['id']}">
${form.person(organization["name"], organization["domain"])}
</button></li>
% endfor
</ul>
</%form:step>

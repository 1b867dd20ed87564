## In which organization a user creates an account.
##   organizations: list[dict]    {id, name, domain: str}
##   login_url: str               for a user who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("organization", "Choose your organization")}</%def>\
<%form:step>
<ul class="accounts">
% for organization in organizations:
<li><button class="account" name="organization" value="${organization['id']}">
${form.person(organization["name"], organization["domain"])}
</button></li>
% endfor
</ul>
</%form:step>
<ul class="ways">
<li>${pgettext("register", "Have an account?")} <a href="${web_link(login_url)}">${pgettext("login-name", "Sign in")}</a></li>
</ul>

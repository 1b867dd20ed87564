## The code of an authenticator app.
##   login_name: str
##   back_url: str     another login name
##   other_url: str    another way to verify who they are
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Enter a code")}</%def>\
<p>${pgettext("factor", "Open your authenticator app and enter the code that it shows for this service.")}</p>
<%form:step>
${form.account_field(login_name, back_url)}
${form.code_field("code", pgettext("verify-email", "Code"), pgettext("factor", "6 digits"))}
<button data-kind="primary">${pgettext("verify-email", "Verify")}</button>
</%form:step>
<ul class="ways">
<li><a href="${web_link(other_url)}">${pgettext("factor", "Use another method")}</a></li>
</ul>

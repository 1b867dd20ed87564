## One of the codes that the user has stored for the day when everything else is lost.
##   login_name: str
##   back_url: str     another login name
##   other_url: str    another way to verify who they are
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Enter a recovery code")}</%def>\
<p>${pgettext("factor", "Use one of the ten codes that you saved when you set up your second factor. Each works once.")}</p>
<%form:step>
${form.account_field(login_name, back_url)}
${form.code_field("code", pgettext("factor", "Recovery code"), pgettext("factor", "10 letters and digits, such as abcde-23456"), autocomplete="off", inputmode=None)}
<button data-kind="primary">${pgettext("verify-email", "Verify")}</button>
</%form:step>
<ul class="ways">
<li><a href="${web_link(other_url)}">${pgettext("factor", "Use another method")}</a></li>
</ul>

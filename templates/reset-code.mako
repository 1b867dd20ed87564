## Asks for the code that was sent to the user who has the account, if there is one.
##   login_name: str        as it was typed
##   mail_url: str | None   where captured email is read, on a service that sends none
##   reset_url: str         for a mistyped name
##   wait_seconds: int      how long until a new code can be requested
##   password_url: str      for a user who remembers the password
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("reset", "Check your email")}</%def>\
% if web_link(mail_url):
<p>${pgettext("reset", "If there is an account, an email with a code is ready. This service isn't set up to send email, so you can read it here.")}</p>
<p><a href="${web_link(mail_url)}">${pgettext("verify-email", "Read the captured email")}</a></p>
% else:
<p>${pgettext("reset", "If there is an account, we've emailed a code to its address. Check your spam folder if it doesn't arrive in a few minutes.")}
${pgettext("reset", "If you get several emails, use the newest one.")}</p>
% endif
<%form:step>
${form.account_field(login_name, reset_url)}
${form.code_field("code", pgettext("verify-email", "Code"), pgettext("verify-email", "8 digits"))}
<button data-kind="primary">${pgettext("verify-email", "Verify")}</button>
${form.resend(wait_seconds)}
</%form:step>
<ul class="ways">
<li><a href="${web_link(password_url)}">${pgettext("reset", "Use your password")}</a></li>
</ul>

## Asks for the code that was sent to an address.
##   email: str | None         the address; None when its owner alone knows it
##   entered: str                what the field holds at first; the link in the message fills it in
##   mail_url: str | None      where captured email is read, on a service that sends none
##   resendable: bool          whether a new code can be requested
##   wait_seconds: int         how long until then
##   register_url: str | None  the form before, for a mistyped address
##   login_url: str | None     for a user who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("verify-email", "Verify your email")}</%def>\
% if email is None:
<p>${pgettext("verify-email", "Enter the code from the email.")}</p>
% elif web_link(mail_url):
<p>${rich(pgettext("verify-email", "An email with a code for %(email)s is ready. This service isn't set up to send email, so you can read it here."), email=strong(email))}</p>
<p><a href="${web_link(mail_url)}">${pgettext("verify-email", "Read the captured email")}</a></p>
% else:
<p>${rich(pgettext("verify-email", "We've emailed a code to %(email)s. Check your spam folder if it doesn't arrive in a few minutes."), email=strong(email))}</p>
% endif
<%form:step>
${form.code_field("code", pgettext("verify-email", "Code"), pgettext("verify-email", "8 digits"), value=entered)}
<button data-kind="primary">${pgettext("verify-email", "Verify")}</button>
% if resendable:
${form.resend(wait_seconds)}
% endif
</%form:step>
% if web_link(register_url) or web_link(login_url):
<ul class="ways">
% if web_link(register_url):
<li><a href="${web_link(register_url)}">${pgettext("verify-email", "Change address")}</a></li>
% endif
% if web_link(login_url):
<li>${pgettext("register", "Have an account?")} <a href="${web_link(login_url)}">${pgettext("login-name", "Sign in")}</a></li>
% endif
</ul>
% endif

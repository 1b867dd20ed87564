## Asks for the code that was sent to an address.
##   email: str | None         the address; None when its owner alone knows it
##   typed: str                what the field holds at first; the link in the mail fills it in
##   mail_url: str | None      where held mail is read, on a service that sends none
##   resendable: bool          whether another mail can be asked for
##   register_url: str | None  the form before, for a mistyped address
##   login_url: str | None     for who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("verify-email", "Confirm your e-mail address")}</%def>\
% if email is None:
<p>${pgettext("verify-email", "Type the code from the mail.")}</p>
% elif web_link(mail_url):
<p>${rich(pgettext("verify-email", "A mail with a code is written to %(email)s. This service is not set up to send mail: it holds it for you to read."), email=strong(email))}</p>
<p><a href="${web_link(mail_url)}">${pgettext("verify-email", "Read the held mail")}</a></p>
% else:
<p>${rich(pgettext("verify-email", "A mail with a code is on its way to %(email)s. It may take some minutes; look among the unwanted mail too."), email=strong(email))}</p>
% endif
<%form:step>
${form.field("code", pgettext("verify-email", "Code"),
    hint=pgettext("verify-email", "8 digits; spaces do not matter."), type="text", value=typed,
    autocomplete="one-time-code", inputmode="numeric", autocapitalize="none", spellcheck="false",
    enterkeyhint="done", dir="ltr", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
% if resendable:
<button class="quiet" name="decision" value="resend" formnovalidate>${pgettext("verify-email", "Send another mail")}</button>
% endif
</%form:step>
% if web_link(register_url):
<p><a href="${web_link(register_url)}">${pgettext("verify-email", "Wrong address? Change what you typed")}</a></p>
% endif
% if web_link(login_url):
<p><a href="${web_link(login_url)}">${pgettext("register", "You have an account? Sign in")}</a></p>
% endif

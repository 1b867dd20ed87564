## Asks for the code that was sent to whoever has the account, if there is one.
##   login_name: str        as it was typed
##   mail_url: str | None   where held mail is read, on a service that sends none
##   reset_url: str         for a mistyped name
##   password_url: str      for who remembers
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("reset", "Check your mail")}</%def>\
<p>${pgettext("reset", "If there is an account, mail is on its way to its address.")}
% if web_link(mail_url):
${pgettext("reset", "This service is not set up to send mail: it holds it for you to read.")}</p>
<p><a href="${web_link(mail_url)}">${pgettext("verify-email", "Read the held mail")}</a></p>
% else:
${pgettext("reset", "It may take some minutes; look among the unwanted mail too.")}
${pgettext("reset", "If you find several, use the link in the newest one.")}</p>
% endif
<%form:step>
${form.login_name_field(login_name)}
<p class="beside"><a href="${web_link(reset_url)}">${pgettext("password", "Not you?")}</a></p>
${form.field("code", pgettext("verify-email", "Code"),
    hint=pgettext("verify-email", "8 digits; spaces do not matter."), type="text", value="",
    autocomplete="one-time-code", inputmode="numeric", autocapitalize="none", spellcheck="false",
    enterkeyhint="done", dir="ltr", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
<button class="quiet" name="decision" value="resend" formnovalidate>${pgettext("verify-email", "Send another mail")}</button>
</%form:step>
<p><a href="${web_link(password_url)}">${pgettext("reset", "You remember it? Enter your password")}</a></p>

## Asks whose password is forgotten.
##   closed: Message | None    why nobody can choose a new one here; None where they can
##   login_name: str           what the field holds at first
##   login_url: str            for who remembers
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("reset", "Forgot your password?")}</%def>\
% if closed:
<p>${said(closed)}</p>
<p><a class="button" href="${web_link(login_url)}">${pgettext("reset", "Back to the sign-in")}</a></p>
% else:
<p>${pgettext("reset", "We send a code to the e-mail address of your account. With it you choose a new password.")}</p>
<%form:step>
${form.field("loginName", pgettext("page", "Login name"),
    hint=pgettext("login-name", "Your user name or your e-mail address."),
    type="text", value=login_name, autocomplete="username", inputmode="email",
    autocapitalize="none", spellcheck="false", enterkeyhint="next", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("reset", "Send the code")}</button>
</%form:step>
<p><a href="${web_link(login_url)}">${pgettext("reset", "Back to the sign-in")}</a></p>
% endif

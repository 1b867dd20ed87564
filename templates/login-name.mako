## First step: who is signing in.
##   login_hint: str            what the field holds at first
##   register_url: str | None   where an account is opened; None where nobody can
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("login-name", "Sign in")}</%def>\
<%form:step>
${form.field("loginName", pgettext("page", "Login name"),
    hint=pgettext("login-name", "Your user name or your e-mail address."),
    type="text", value=login_hint, autocomplete="username webauthn", inputmode="email",
    autocapitalize="none", spellcheck="false", enterkeyhint="next", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>
% if web_link(register_url):
<p><a href="${web_link(register_url)}">${pgettext("login-name", "No account yet? Open one")}</a></p>
% endif

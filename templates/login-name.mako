## First step: who is signing in.
##   login_hint: str            what the field holds at first
##   suffix: str | None         the domain that is added to a bare name
##   passkey: str | None        what the browser is asked for a passkey, as JSON; None: not offered
##   register_url: str | None   where an account is opened; None where nobody can
##   accounts_url: str | None   the accounts that this browser knows, if it knows any
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("login-name", "Sign in")}</%def>\
<%form:step>
${form.field("loginName", pgettext("page", "Login name"),
    hint=rich(pgettext("login-name", "Your user name or your e-mail address. To a bare name, %(domain)s is added."), domain=code("@" + suffix)) if suffix else pgettext("login-name", "Your user name or your e-mail address."),
    type="text", value=login_hint, autocomplete="username webauthn", inputmode="email",
    autocapitalize="none", spellcheck="false", enterkeyhint="next", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
% if passkey:
${webauthn.ask("get", passkey, pgettext("passkey", "Sign in with a passkey"),
    pgettext("passkey", "Nothing was received from your device. Try again or use your password."),
    names=True, css="quiet")}
% endif
</%form:step>
% if web_link(accounts_url):
<p><a href="${web_link(accounts_url)}">${pgettext("login-name", "Accounts of this browser")}</a></p>
% endif
% if web_link(register_url):
<p><a href="${web_link(register_url)}">${pgettext("login-name", "No account yet? Open one")}</a></p>
% endif

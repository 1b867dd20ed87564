## First step: who is signing in.
##   login_hint: str            what the field holds at first
##   suffix: str | None         the domain that is added to a bare name
##   passkey: str | None        what the browser is asked for a passkey, as JSON; None: not offered
##   register_url: str | None   where an account is created; None where no user can
##   providers: ProviderButtons | None   other identity providers (form.mako)
##   failed_request: str | None   the request by which a sign-in at another provider failed
##   accounts_url: str | None   the accounts that this browser knows, if it knows any
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%namespace name="webauthn" file="webauthn.mako"/>\
<%def name="title()">${pgettext("login-name", "Sign in")}</%def>\
% if providers and providers.is_above:
${form.other_providers(providers)}
% endif
<%form:step cancels_below="${bool(providers) and not providers.is_above}">
${form.field("loginName", pgettext("page", "Email or username"),
    hint=rich(pgettext("login-name", "We add %(domain)s to a username."), domain=code("@" + suffix)) if suffix else None,
    type="text", value=login_hint, autocomplete="username webauthn", inputmode="email",
    autocapitalize="none", spellcheck="false", enterkeyhint="next", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button data-kind="primary">${pgettext("page", "Continue")}</button>
% if passkey:
${webauthn.ask("get", passkey, pgettext("passkey", "Sign in with a passkey"),
    pgettext("passkey", "We got no response from your device. Try again or use your password."),
    names=True, is_other_way=True)}
% endif
</%form:step>
% if providers and not providers.is_above:
${form.other_providers(providers)}
% endif
% if failed_request:
<p class="hint">${rich(pgettext("providers", "Request ID: %(id)s"), id=code(failed_request))}</p>
% endif
% if web_link(accounts_url) or web_link(register_url):
<ul class="ways">
% if web_link(accounts_url):
<li><a href="${web_link(accounts_url)}">${pgettext("login-name", "Choose a saved account")}</a></li>
% endif
% if web_link(register_url):
<li>${pgettext("login-name", "New here?")} <a href="${web_link(register_url)}">${pgettext("register", "Create an account")}</a></li>
% endif
</ul>
% endif

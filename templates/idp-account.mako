## A user whom another provider has signed in, and who is linked to no account yet.
##   provider: str          the connection's name
##   identity: str          how the provider names the user
##   identity_id: str       which identity the form is for
##   names: NewNames        user_name, given_name, family_name: what the fields hold
##   may_create: bool       whether an account can be created
##   login_url: str | None  to sign in to an account, which is then linked; None if not allowed
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if may_create:
${pgettext("register", "Create an account")}\
% else:
${pgettext("idp-account", "No account is linked yet")}\
% endif
</%def>\
<%def name="names_of_user()">
<%
    may_focus = not problems and retry_seconds is None
    fields = [
        ("givenName", pgettext("register", "Given name"), names.given_name, "given-name"),
        ("familyName", pgettext("register", "Family name"), names.family_name, "family-name"),
    ]
%>\
<div class="pair">
% for name, label, value, purpose in reversed(fields) if is_family_name_first else fields:
${form.field(name, label, type="text", value=value, autocomplete=purpose, dir="auto", required=True, autofocus=may_focus and loop.first)}
% endfor
</div>
</%def>\
<p>${rich(pgettext("idp-account", "You signed in with %(provider)s as %(identity)s. No account here is linked to it yet."), provider=strong(provider), identity=strong(identity))}</p>
% if web_link(login_url) and not may_create:
<p><a class="button" data-kind="primary" href="${web_link(login_url)}">${pgettext("idp-account", "Sign in to your account and link it")}</a></p>
% elif not may_create:
<p>${pgettext("idp-account", "Contact support to link your account.")}</p>
% endif
<%form:step>
<input type="hidden" name="identity" value="${identity_id}">
% if may_create:
${names_of_user()}
${form.field("userName", pgettext("user-name", "Username"), type="text", value=names.user_name,
    autocomplete="username", autocapitalize="none", spellcheck="false", dir="auto", required=True)}
<button data-kind="primary">${pgettext("register", "Create account")}</button>
% endif
<button name="choice" value="other" formnovalidate>${pgettext("idp-account", "Sign in another way")}</button>
</%form:step>
% if web_link(login_url) and may_create:
<ul class="ways">
<li>${pgettext("register", "Have an account?")} <a href="${web_link(login_url)}">${pgettext("idp-account", "Sign in to your account and link it")}</a></li>
</ul>
% endif

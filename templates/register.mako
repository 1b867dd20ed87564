## A user creates an account, for the application that asked.
##   entered: object            given_name, family_name, email, user_name: what the fields hold
##   policy: dict             {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
##   closed: Message | None   why no user can; then there is no form
##   login_url: str           for a user who has an account
##   providers: ProviderButtons | None   other identity providers (form.mako)
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("register", "Create an account")}</%def>\
<%def name="names()">
<%
    may_focus = not problems and retry_seconds is None
    fields = [
        ("givenName", pgettext("register", "Given name"), entered.given_name, "given-name"),
        ("familyName", pgettext("register", "Family name"), entered.family_name, "family-name"),
    ]
%>\
<div class="pair">
% for name, label, value, purpose in reversed(fields) if is_family_name_first else fields:
${form.field(name, label, type="text", value=value, autocomplete=purpose, dir="auto", required=True, autofocus=may_focus and loop.first)}
% endfor
</div>
</%def>\
% if closed:
<p>${translated(closed)}</p>
<p><a class="button" data-kind="primary" href="${web_link(login_url)}">${pgettext("register", "Sign in with an account")}</a></p>
% else:
<%form:step cancels_below="${bool(providers)}">
${names()}
${form.field("email", pgettext("register", "Email"),
    hint=pgettext("register", "We'll email you a code to verify it."),
    type="text", value=entered.email, autocomplete="email", inputmode="email",
    autocapitalize="none", spellcheck="false", dir="auto", required=True)}
${form.new_password_field(policy, autofocus=False)}
<details${html_attributes({"open": bool(entered.user_name or problems_of(problems, "userName"))})}>
<summary>${pgettext("register", "Choose a username")}</summary>
${form.field("userName", pgettext("register", "Username (optional)"),
    hint=pgettext("register", "Without one, you sign in with your email."),
    type="text", value=entered.user_name, autocomplete="username", autocapitalize="none",
    spellcheck="false", dir="auto")}
</details>
<button data-kind="primary">${pgettext("register", "Create account")}</button>
</%form:step>
${form.other_providers(providers)}
<ul class="ways">
<li>${pgettext("register", "Have an account?")} <a href="${web_link(login_url)}">${pgettext("login-name", "Sign in")}</a></li>
</ul>
% endif

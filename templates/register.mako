## Somebody opens an account, for the application that asked.
##   typed: object            given_name, family_name, email, user_name: what the fields hold
##   policy: dict             {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
##   closed: Message | None   why nobody can; then there is no form
##   login_url: str           for who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("register", "Open an account")}</%def>\
<% may_focus = not problems and retry_seconds is None %>\
% if closed:
<p>${said(closed)}</p>
<p><a class="button" href="${web_link(login_url)}">${pgettext("register", "Sign in with an account")}</a></p>
% else:
<p class="beside"><a href="${web_link(login_url)}">${pgettext("register", "You have an account? Sign in")}</a></p>
<%form:step>
${form.field("givenName", pgettext("register", "Given name"), type="text", value=typed.given_name,
    autocomplete="given-name", dir="auto", required=True, autofocus=may_focus)}
${form.field("familyName", pgettext("register", "Family name"), type="text",
    value=typed.family_name, autocomplete="family-name", dir="auto", required=True)}
${form.field("email", pgettext("register", "E-mail address"),
    hint=pgettext("register", "It gets a mail with a code, to confirm that it is yours."),
    type="text", value=typed.email, autocomplete="email", inputmode="email",
    autocapitalize="none", spellcheck="false", dir="auto", required=True)}
${form.field("userName", pgettext("register", "User name, if you want one"),
    hint=pgettext("register", "Left empty, you sign in with your e-mail address."),
    type="text", value=typed.user_name, autocomplete="username", autocapitalize="none",
    spellcheck="false", dir="auto")}
${form.new_password_field(policy, autofocus=False)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>
% endif

## The first administrator's link: a one-time password is replaced, without an application.
##   login_name: str          what the field holds at first; page.js fills it from the link
##   password: str | None     the one-time password, if it was right before
##   policy: dict             {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
##   asks_about_registration: bool    whether to ask if anyone may create an account
##   allows_registration: bool     the answer that is chosen
##   sign_in_url: str | None  where to sign in, if the set-up link was used
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("setup", "Set up your account")}</%def>\
% if sign_in_url:
<div role="status">
<p>${pgettext("setup", "This setup link was already used to choose a password.")}</p>
<p><a class="button" data-kind="primary" href="${web_link(sign_in_url)}">${pgettext("setup", "Sign in with that password")}</a></p>
</div>
<p>${pgettext("setup", "Use this form only if you have a new one-time password.")}</p>
% endif
<%form:step>
${form.field("loginName", pgettext("page", "Email or username"), type="text", value=login_name,
    autocomplete="username", autocapitalize="none", spellcheck="false", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
${form.password_field("password", pgettext("setup", "One-time password"), "off",
    hint=pgettext("setup", "It was printed when the service started."), value=password,
    required=True)}
${form.new_password_field(policy, autofocus=False)}
% if asks_about_registration:
<div class="field">
<label for="strangers">${pgettext("setup", "Can anyone create an account?")}</label>
<select id="strangers" name="strangers" aria-describedby="strangers-hint">
<option value="no"${html_attributes({"selected": not allows_registration})}>${pgettext("setup", "No")}</option>
<option value="yes"${html_attributes({"selected": allows_registration})}>${pgettext("setup", "Yes")}</option>
</select>
<p class="hint" id="strangers-hint">${pgettext("setup", "You can change this later in the login policy.")}</p>
</div>
% endif
<button${html_attributes({"data-kind": None if sign_in_url else "primary"})}>${pgettext("change-password", "Save the new password")}</button>
</%form:step>

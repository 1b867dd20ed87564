## Another user name, for whom the mailbox was proven.
##   user_name: str    what the field holds at first
##   login_url: str    for who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("user-name", "Choose another username")}</%def>\
<p>${pgettext("user-name", "Your email is verified. Choose a username to finish.")}</p>
<%form:step>
${form.field("userName", pgettext("user-name", "Username"), type="text", value=user_name,
    autocomplete="username", autocapitalize="none", spellcheck="false", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button data-kind="primary">${pgettext("page", "Continue")}</button>
</%form:step>
<ul class="ways">
<li>${pgettext("register", "Have an account?")} <a href="${web_link(login_url)}">${pgettext("login-name", "Sign in")}</a></li>
</ul>

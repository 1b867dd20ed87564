## Another user name, for whom the mailbox was proven.
##   user_name: str    what the field holds at first
##   login_url: str    for who has an account
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("user-name", "Choose another user name")}</%def>\
<p>${pgettext("user-name", "Your e-mail address is confirmed. Only the user name is missing.")}</p>
<%form:step>
${form.field("userName", pgettext("user-name", "User name"), type="text", value=user_name,
    autocomplete="username", autocapitalize="none", spellcheck="false", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>
<p><a href="${web_link(login_url)}">${pgettext("register", "You have an account? Sign in")}</a></p>

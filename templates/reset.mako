## Asks whose password is forgotten.
##   closed: Message | None    why nobody can choose a new one here; None where they can
##   login_name: str           what the field holds at first
##   login_url: str            for who remembers
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("reset", "Reset your password")}</%def>\
% if closed:
<p>${translated(closed)}</p>
<p><a class="button" data-kind="primary" href="${web_link(login_url)}">${pgettext("reset", "Back to sign-in")}</a></p>
% else:
<p>${pgettext("reset", "We'll email you a code that lets you choose a new password.")}</p>
<%form:step>
${form.field("loginName", pgettext("page", "Email or username"),
    type="text", value=login_name, autocomplete="username", inputmode="email",
    autocapitalize="none", spellcheck="false", enterkeyhint="next", dir="auto", required=True,
    autofocus=not problems and retry_seconds is None)}
<button data-kind="primary">${pgettext("reset", "Send the code")}</button>
</%form:step>
<ul class="ways">
<li><a href="${web_link(login_url)}">${pgettext("reset", "Back to sign-in")}</a></li>
</ul>
% endif

## The code of an authenticator app.
##   login_name: str
##   back_url: str     another login name
##   other_url: str    another way to confirm who they are
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Enter a code")}</%def>\
<p>${pgettext("factor", "Open your authenticator app: it shows a code for this service.")}</p>
<%form:step>
${form.login_name_field(login_name)}
<p class="beside"><a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a></p>
${form.field("code", pgettext("verify-email", "Code"),
    hint=pgettext("factor", "6 digits; spaces do not matter."), type="text", value="",
    autocomplete="one-time-code", inputmode="numeric", autocapitalize="none", spellcheck="false",
    enterkeyhint="done", dir="ltr", required=True,
    autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>
<p><a href="${web_link(other_url)}">${pgettext("factor", "Confirm it in another way")}</a></p>

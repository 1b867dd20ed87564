## One of the codes that the person has kept for the day when everything else is gone.
##   login_name: str
##   back_url: str     another login name
##   other_url: str    another way to confirm who they are
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("factor", "Enter a recovery code")}</%def>\
<p>${pgettext("factor", "It is one of the ten codes that you were shown when you set up your second factor. Each counts once.")}</p>
<%form:step>
${form.login_name_field(login_name)}
<p class="beside"><a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a></p>
${form.field("code", pgettext("factor", "Recovery code"),
    hint=pgettext("factor", "10 letters and digits, such as abcde-23456."), type="text", value="",
    autocomplete="off", autocapitalize="none", spellcheck="false", enterkeyhint="done", dir="ltr",
    required=True, autofocus=not problems and retry_seconds is None)}
<button>${pgettext("page", "Continue")}</button>
</%form:step>
<p><a href="${web_link(other_url)}">${pgettext("factor", "Confirm it in another way")}</a></p>

## Whether an application of others may have what it asks for.
##   account: dict          {id, display_name, login_name: str} of the user who is asked
##   scopes: list[dict]     {text: Message | str, icon: str}: what it asks for; a scope that is not
##                          known is its name
##   back_url: str          where another user signs in
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("consent", "Allow access?")}</%def>\
${form.whose(account, back_url)}
## TRANSLATORS: A list follows, such as "See your email address".
<p>${rich(pgettext("consent", "%(application)s wants to:"), application=strong(application_name or ""))}</p>
${form.scope_list(scopes)}
<%form:step>
<div class="two">
<button data-kind="primary" name="decision" value="allow">${pgettext("consent", "Allow")}</button>
<button name="decision" value="deny">${pgettext("consent", "Don't allow")}</button>
</div>
</%form:step>

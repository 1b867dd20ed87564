## The address of an account is confirmed.
<%inherit file="page.mako"/>\
<%def name="title()">${pgettext("verify-email", "Your e-mail address is confirmed")}</%def>\
<p>${pgettext("verify-email", "You can sign in with it from now on.")}</p>
<p><a href="/">${pgettext("page", "Go to the start page")}</a></p>

## The address of an account is confirmed.
<%inherit file="page.mako"/>\
<%def name="title()">${pgettext("verify-email", "Your email is verified")}</%def>\
<div class="emblem">${icon("circle-check")}</div>
<p>${pgettext("verify-email", "You can now sign in with it.")}</p>
<p><a class="button" data-kind="primary" href="/">${pgettext("page", "Go to the start page")}</a></p>

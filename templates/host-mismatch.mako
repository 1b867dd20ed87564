## The service was opened at an address that is not its issuer; for the person who runs it.
##   opened: str    the origin in the browser's address bar
##   issuer: str    the origin the service was told
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%def name="title()">${pgettext("host-mismatch", "This is not the service's address")}</%def>\
<p>${rich(pgettext("host-mismatch", "You opened %(opened)s, but this service's issuer is %(issuer)s."), opened=code(opened), issuer=code(issuer))}</p>
<p>${rich(pgettext("host-mismatch", "If you want to use it, go to %(issuer)s."), issuer=link(issuer))}</p>
<h2>${pgettext("host-mismatch", "If you run this service")}</h2>
<p>${pgettext("host-mismatch", "To use the address that you opened, start the service with this setting:")}</p>
<pre class="fix" dir="ltr"><code>IDP_ISSUER=${opened}</code></pre>
<p>${pgettext("host-mismatch", "Applications identify the service by its issuer. Update the issuer in their settings, too.")}</p>

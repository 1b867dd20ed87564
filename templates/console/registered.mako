## An application was registered: what it needs to know, once.
##   about, client_id, issuer: str
##   client_secret: str | None
##   warnings: dict[str, list[str]]    what is not as today's standards want it, with the URIs that it is about
##   file: str | None            where the configuration belongs
##   configuration: str | None   the tool's, ready to use but for the secret
##   test_url: str | None        where a sign-in to it is tried
##   next_url: str               the application's own page
<%inherit file="frame.mako"/>\
<%! has_languages = False %>\
<%def name="title()">${pgettext("registered", "Your application is registered")}</%def>\
<p class="asking"><strong><bdi>${about}</bdi></strong></p>
<h2 id="client-id">${pgettext("console", "Client ID")}</h2>
<pre class="fix" dir="ltr" tabindex="0" role="group" aria-labelledby="client-id"><code>${client_id}</code></pre>
% if client_secret:
<h2 id="secret">${pgettext("applications", "Client secret")}</h2>
<p class="notice">${pgettext("console", "We show this only once. Save it now.")}</p>
<pre class="fix" dir="ltr" tabindex="0" role="group" aria-labelledby="secret"><code>${client_secret}</code></pre>
% endif
<h2 id="issuer">${pgettext("applications", "Issuer")}</h2>
<pre class="fix" dir="ltr" tabindex="0" role="group" aria-labelledby="issuer"><code>${issuer}</code></pre>
% if configuration:
<h2 id="configuration">${rich(pgettext("registered", "Configuration for %(file)s"), file=code(file))}</h2>
% if client_secret:
<p>${rich(pgettext("registered", "Don't put the secret in the file: %(name)s is its placeholder."), name=code("CLIENT_SECRET"))}</p>
% endif
<pre class="listing" dir="ltr" tabindex="0" role="group" aria-labelledby="configuration"><code>${configuration}</code></pre>
% endif
% if warnings:
<h2>${pgettext("applications", "Warnings")}</h2>
<ul>
% for warning, uris in warnings.items():
<li>\
% for uri in uris:
<code dir="ltr">${uri}</code>${": " if loop.last else ", "}\
% endfor
<span lang="en" dir="ltr">${warning}</span></li>
% endfor
</ul>
% endif
<p class="row">
% if test_url:
<a class="button" data-kind="primary" href="${web_link(test_url)}">${pgettext("applications", "Test sign-in")}</a>
% endif
<a class="button" href="${web_link(next_url)}">${pgettext("console", "I've saved it")}</a>
</p>

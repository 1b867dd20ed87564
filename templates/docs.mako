## The manual of the management API: what its pages are. Its texts are English in every language.
##   parts: list[Part]       {title, path, entries: [{anchor, method, path, summary}]}
##   about: str              what holds for every call
##   organization_header: str    the header that names the organization of a call
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%def name="title()">${pgettext("docs", "Management API")}</%def>\
<div lang="en" dir="ltr">
<p>${about}</p>
<p>Every call takes a personal access token in the header <code>Authorization: Bearer</code>. The header <code>${organization_header}</code> names the organization that it acts in. Whatever changes something may be sent with an <code>Idempotency-Key</code>, and is then done once.</p>
<p><a href="/openapi.json">OpenAPI 3.1</a> · <a href="/docs/errors">Errors</a></p>
% for part in parts:
<h2><a href="${part.path}">${part.title}</a></h2>
<ul>
% for entry in part.entries:
<li><a href="${part.path}#${entry.anchor}"><code>${entry.method} ${entry.path}</code></a><br>${entry.summary}</li>
% endfor
</ul>
% endfor
</div>

## A page of the manual of the management API. Its texts are English in every language.
##   part: Part    {title, entries: [{anchor, method, path, summary, permission, about, fields: [{path, holds, is_required}], command, is_conditional}]}
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%def name="title()">${rich(pgettext("docs", "Management API: %(part)s"), part=Markup('<bdi lang="en">{}</bdi>').format(part.title))}</%def>\
<div lang="en" dir="ltr">
<p><a href="/docs">All calls</a> · <a href="/docs/errors">Errors</a></p>
<ul>
% for entry in part.entries:
<li><a href="#${entry.anchor}">${entry.summary}</a></li>
% endfor
</ul>
% for entry in part.entries:
<h2 id="${entry.anchor}"><code>${entry.method} ${entry.path}</code></h2>
<p>${entry.summary}</p>
<p class="hint">Permission <code>${entry.permission}</code>\
% if entry.is_conditional:
 · honours <code>If-Match</code>\
% endif
</p>
% if entry.about:
<p>${entry.about}</p>
% endif
% if entry.fields:
<div class="scroll" role="region" tabindex="0" aria-labelledby="${entry.anchor}">
<table>
<thead><tr><th scope="col">Field</th><th scope="col">Holds</th></tr></thead>
<tbody>
% for field in entry.fields:
<tr><th scope="row"><code>${field.path}</code>${" (required)" if field.is_required else ""}</th><td>${field.values}</td></tr>
% endfor
</tbody>
</table>
</div>
% endif
<pre tabindex="0"><code>${entry.command}</code></pre>
% endfor
</div>

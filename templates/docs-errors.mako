## The catalogue of error slugs. Its texts are English in every language.
##   catalogue: list[(str, list[dict])]    the title of each part, and its slugs: {name, status: int, cause, cure}
<%inherit file="page.mako"/>\
<%def name="title()">${pgettext("docs", "Errors of the management API")}</%def>\
<div lang="en" dir="ltr">
<p>A refusal says by the <code>id</code> of each of its details what is wrong. These ids stay the same; the messages beside them may change.</p>
<p><a href="/docs">All calls</a></p>
% for title, slugs in catalogue:
<h2>${title}</h2>
<dl>
% for slug in slugs:
<dt id="${slug['name']}"><code>${slug["name"]}</code> <span class="hint">${slug["status"]}</span></dt>
<dd>${slug["cause"]}<br>${slug["cure"]}</dd>
% endfor
</dl>
% endfor
</div>

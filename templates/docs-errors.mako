## The catalogue of error codes. Its texts are English in every language.
##   catalogue: list[(str, list[dict])]    the title of each part, and its entries: {name, status: int, text}
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%def name="title()">${pgettext("docs", "Errors of the management API")}</%def>\
<div lang="en" dir="ltr">
<p>A refusal says by the <code>id</code> of each of its details what is wrong. These ids stay the same; the messages beside them may change.</p>
<p><a href="/docs">All calls</a></p>
% for title, entries in catalogue:
<h2>${title}</h2>
<dl>
% for entry in entries:
<dt id="${entry['name']}"><code>${entry["name"]}</code> <span class="hint">${entry["status"]}</span></dt>
<dd>${entry["text"]}</dd>
% endfor
</dl>
% endfor
</div>

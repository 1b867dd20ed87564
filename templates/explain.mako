## An application's request that cannot be answered by a redirect.
##   explanation: dict | None    None where the details are not for everybody; otherwise
##       title, sentence: Message | str    what is wrong
##       hint: Message | None              how the values differ, where it can be recognised
##       detail: Message | None            the same for programmers, in English
##       comparisons: list[dict]           {parameter, sent: str, registered: list[str]}
##       rule, fix: Message | str | None   what holds, and what to change
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if explanation:
${translated(explanation["title"])}\
% else:
${pgettext("explain", "This request can't be processed")}\
% endif
</%def>\
% if explanation:
<p>${translated(explanation["sentence"])}</p>
% if explanation["hint"]:
<p>${translated(explanation["hint"])}</p>
% endif
% if explanation["detail"]:
<p>${rich(pgettext("page", "Technical detail: %(detail)s"), detail=translated(explanation["detail"]))}</p>
% endif
% for row in explanation["comparisons"]:
<h2 id="comparison-${loop.index}">${rich(pgettext("explain", "Values of %(parameter)s"), parameter=code(row["parameter"]))}</h2>
<table class="comparison" aria-labelledby="comparison-${loop.index}">
% for registered in row["registered"]:
<% at = difference(row["sent"], registered) %>\
<tbody>
## TRANSLATORS: Heads of two lines, one above the other: what the application sent, and what is registered for it.
<tr><th scope="row">${pgettext("explain", "Sent")}</th><td><code dir="ltr">${marked(row["sent"], at)}</code></td></tr>
<tr><th scope="row">${pgettext("explain", "Registered")}</th><td><code dir="ltr">${marked(registered, at)}</code></td></tr>
<tr><th scope="row">${pgettext("explain", "Difference")}</th>
% if at is None:
<td>${pgettext("explain", "none")}</td></tr>
% else:
## TRANSLATORS: The first character that differs, counted from 1.
<td>${pgettext("explain", "from character %(n)s on", n=at + 1)}</td></tr>
% endif
</tbody>
% endfor
% if not row["registered"]:
<tbody>
<tr><th scope="row">${pgettext("explain", "Sent")}</th><td><code dir="ltr">${marked(row["sent"], None)}</code></td></tr>
<tr><th scope="row">${pgettext("explain", "Registered")}</th><td>${pgettext("explain", "nothing")}</td></tr>
</tbody>
% endif
</table>
% endfor
% if explanation["rule"]:
<h2>${pgettext("explain", "The rule")}</h2>
<p>${cited(translated(explanation["rule"]))}</p>
% endif
% if explanation["fix"]:
<h2>${pgettext("explain", "What to change")}</h2>
<p class="fix">${translated(explanation["fix"])}</p>
% endif
% else:
<p>${pgettext("explain", "The application sent a request that this service can't accept. Only the application's administrators can fix this.")}</p>
% endif
<p><a class="button" data-kind="primary" href="/">${pgettext("page", "Go to the start page")}</a></p>
${form.for_support()}

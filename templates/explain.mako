## An application's request that cannot be answered by a redirect.
##   request_id: str
##   explanation: dict | None    None where the details are not for everybody; otherwise
##       title, sentence: Message | str    what is wrong
##       comparisons: list[dict]           {parameter, sent: str, registered: list[str]}
##       rule, fix: Message | str | None   what holds, and what to change
<%inherit file="page.mako"/>\
<%def name="title()">\
% if explanation:
${said(explanation["title"])}\
% else:
${pgettext("explain", "This request can't be answered")}\
% endif
</%def>\
% if explanation:
<p>${said(explanation["sentence"])}</p>
% for row in explanation["comparisons"]:
<div class="scroll" tabindex="0" role="group" aria-labelledby="comparison-${loop.index}">
<table>
<caption id="comparison-${loop.index}">${rich(pgettext("explain", "Values of %(parameter)s"), parameter=code(row["parameter"]))}</caption>
<thead><tr>
## TRANSLATORS: Column heads: what the application sent, and what is registered for it.
<th scope="col">${pgettext("explain", "Sent")}</th>
<th scope="col">${pgettext("explain", "Registered")}</th>
<th scope="col">${pgettext("explain", "Difference")}</th>
</tr></thead>
<tbody>
% for registered in row["registered"]:
<% at = difference(row["sent"], registered) %>\
<tr>
<td><code dir="ltr">${marked(row["sent"], at)}</code></td>
<td><code dir="ltr">${marked(registered, at)}</code></td>
% if at is None:
<td>${pgettext("explain", "none")}</td>
% else:
<td>${pgettext("explain", "from character %(n)s", n=at + 1)}</td>
% endif
</tr>
% endfor
% if not row["registered"]:
<tr>
<td><code dir="ltr">${row["sent"]}</code></td>
<td colspan="2">${pgettext("explain", "nothing is registered")}</td>
</tr>
% endif
</tbody>
</table>
</div>
% endfor
% if explanation["rule"]:
<h2>${pgettext("explain", "The rule")}</h2>
<p>${said(explanation["rule"])}</p>
% endif
% if explanation["fix"]:
<h2>${pgettext("explain", "What to change")}</h2>
<p class="fix">${said(explanation["fix"])}</p>
% endif
% else:
<p>${pgettext("explain", "The application sent a request that this service can't accept. You can't mend that here; the people who run the application can.")}</p>
% endif
<p class="hint">${rich(pgettext("explain", "Number of this request: %(id)s"), id=code(request_id))}</p>

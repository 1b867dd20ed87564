## What an application would be told of whoever tried to sign in to it.
##   about: str            the application's
##   properties: list[dict]     {label: Message, cell: dict}
##   parts: list[dict]     {title: Message, json: str}: the claims, by where they are told
##   again_url, back_url: str
<%inherit file="frame.mako"/>\
<%namespace name="pieces" file="parts.mako"/>\
<%def name="title()">${pgettext("test-sign-in", "Claims the application would receive")}</%def>\
<p class="asking"><strong><bdi>${about}</bdi></strong></p>
% if parts:
<p>${pgettext("test-sign-in", "The sign-in works. This is only a preview: the application received nothing.")}</p>
% endif
% if properties:
${pieces.properties(properties)}
% endif
% for n, part in enumerate(parts):
<h2 id="part-${n}">${translated(part["title"])}</h2>
<pre class="listing" dir="ltr" tabindex="0" role="group" aria-labelledby="part-${n}"><code>${part["json"]}</code></pre>
% endfor
<p class="row">
<a class="button" data-kind="primary" href="${web_link(back_url)}">${pgettext("test-sign-in", "Back to the application")}</a>
<a class="button" href="${web_link(again_url)}">${pgettext("test-sign-in", "Test again")}</a>
</p>

## How somebody signs in: what is set up, and where each is changed.
##   factors: list[dict]        {title, text: Message, url: str}
<%inherit file="frame.mako"/>\
<%def name="title()">${pgettext("account", "Sign-in and security")}</%def>\
<ul class="cards">
% for factor in factors:
<li><a href="${web_link(factor['url'])}"><strong>${said(factor["title"])}</strong>
<span>${said(factor["text"])}</span></a></li>
% endfor
</ul>

## Something can't be done or is not there, and where to go on.
##   title_text, sentence: Message
##   detail: Message | None               the same for programmers, in English
##   buttons: list[(Message, str)]
<%inherit file="frame.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
<p>${said(sentence)}</p>
% if detail:
<p>${rich(pgettext("page", "Technical detail: %(detail)s"), detail=said(detail))}</p>
% endif
% for label, url in buttons:
<p><a class="button" href="${web_link(url)}">${said(label)}</a></p>
% endfor

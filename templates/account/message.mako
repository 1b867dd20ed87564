## Something can't be done or is not there, and where to go on.
##   title_text, sentence: Message
##   detail: Message | None               the same for programmers, in English
##   buttons: list[(Message, str)]
<%inherit file="frame.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
<p>${translated(sentence)}</p>
% if detail:
<p>${rich(pgettext("page", "Technical detail: %(detail)s"), detail=translated(detail))}</p>
% endif
% for label, url in buttons:
<p><a class="button"${html_attributes({"data-kind": "primary" if loop.first else None})} href="${web_link(url)}">${translated(label)}</a></p>
% endfor

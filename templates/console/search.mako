## What a search in the whole console has found; its input is in the frame.
##   page_parts: list[dict]    {title: Message, hits: list of Hit (handlers/console/search.py)}
##   is_done: bool           whether there was a search, not only a text that can't be searched for
##   notes: list[Message]    why there may be more results
##   commands: list[dict]    the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${pgettext("search", "Search results")}</%def>\
% for part in page_parts:
<h2>${translated(part["title"])}</h2>
<ul class="hits">
% for hit in part["hits"]:
<li><a href="${web_link(hit.url)}">${parts.name_or_text(hit.name)}</a>\
% if hit.detail:
 <bdi class="hint">${hit.detail}</bdi>\
% endif
</li>
% endfor
</ul>
% endfor
% if is_done and not page_parts:
<p class="empty">${icon("search")} <span>${pgettext("console", "No results.")}</span></p>
% endif
% for note in notes:
<p class="hint">${translated(note)}</p>
% endfor
<div class="switch" hidden data-keys>
<input type="checkbox" id="keys">
<label for="keys">${pgettext("search", "Press / to go to the search")}</label>
</div>
${parts.by_hand(commands)}

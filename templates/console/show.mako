## One thing, with all that is known of it and all that can be done with it.
##   title_text: Message | str  its name, or what it is
##   state: dict | None         {label: Message, tone: str | None}
##   intro: Message | None
##   properties: list[dict]          {label: Message, cell: dict}; a cell is {value, kind, url}
##   actions: list[dict]        {label: Message, url: str, is_dangerous: bool}
##   page_parts: list[dict]       {title: Message, columns: list[Message], rows, empty: Message,
##                              actions: list[dict], first_url, next_url: str | None}: lists of
##                              what belongs to it, or one page of each
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">\
% if isinstance(title_text, str):
<bdi>${title_text}</bdi>\
% else:
${translated(title_text)}\
% endif
</%def>\
% if state:
<p>${parts.chip(state)}</p>
% endif
% if intro:
<p>${translated(intro)}</p>
% endif
% if properties:
${parts.properties(properties)}
% endif
${parts.action_links(actions)}
% for part in page_parts:
<h2>${translated(part["title"])}</h2>
${parts.table(translated(part["title"]), part["columns"], part["rows"], part["empty"])}
${parts.turns(part["first_url"], part["next_url"])}
${parts.action_links(part["actions"])}
% endfor
${parts.by_hand(commands)}

## The audit log: what is found, a page at a time.
##   title_text: Message
##   search: dict               {fields: list[dict] as in console/parts.mako, hidden: list[(str, str)],
##                              clear_url: str | None, chips: list}; it is sent by GET
##   entries: list of EventEntry (handlers/console/events/entries.py)
##   first_url, next_url: str | None
##   actions: list[dict]        {label: Message, url: str, is_dangerous: bool}
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
<%def name="heading(title)">
<div class="head">
<h1>${title}</h1>
${parts.action_links(actions)}
</div>
</%def>\
${parts.search(search)}
${parts.events(entries, pgettext("console", "No results."))}
${parts.turns(first_url, next_url)}
${parts.by_hand(commands)}

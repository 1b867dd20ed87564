## One thing, with all that is known of it and all that can be done with it.
##   title_text: Message | str  its name, or what it is
##   state: dict | None         {label: Message, tone: str | None}
##   intro: Message | None
##   properties: list[dict]          {label: Message, cell: dict}; a cell is {value, kind, url}
##   actions: list[dict]        {label: Message, url: str, is_dangerous: bool}
##   page_parts: list[dict]       {title: Message, columns: list[Message], rows, empty: Message,
##                              entries: list of EventEntry, or listing: str, in place of rows,
##                              actions: list[dict], first_url, next_url: str | None}: lists of
##                              what belongs to it, or one page of each
##   tabs: list[dict]           {label: Message, url: str, is_current: bool}: the other pages about it
##   preview_url: str | None    a page that is shown in a frame
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
<% dangerous = [action for action in actions if action["is_dangerous"]] %>\
<%def name="heading(title)">
<%
    usual = [action for action in actions if not action["is_dangerous"]]
    # As many as have room beside the title; of more, the first.
    beside = usual if len(usual) <= 3 else usual[:1]
%>\
<div class="head">
<h1>${title}</h1>
% if state:
${parts.chip(state)}
% endif
${parts.action_links(beside)}
% if len(usual) > len(beside):
<details class="menu">
<summary>${icon("ellipsis")} <span>${pgettext("console", "More")}</span></summary>
<ul>
% for action in usual[len(beside):]:
<li><a href="${web_link(action['url'])}">${translated(action["label"])}</a></li>
% endfor
</ul>
</details>
% endif
</div>
</%def>\
% if intro:
<p>${translated(intro)}</p>
% endif
% if tabs:
<nav class="tabs" aria-label="${Markup(capture(self.title)).striptags()}">
<ul>
% for tab in tabs:
<li><a href="${web_link(tab['url'])}"${html_attributes({"aria-current": "page" if tab["is_current"] else None})}>${translated(tab["label"])}</a></li>
% endfor
</ul>
</nav>
% endif
% if properties:
<div class="card">
${parts.properties(properties)}
</div>
% endif
${parts.record_parts(page_parts)}
% if preview_url:
<section class="card">
<h2>${pgettext("policies", "Preview")}</h2>
${parts.preview(preview_url)}
</section>
% endif
% if dangerous:
<section class="card" data-kind="danger">
<h2>${pgettext("console", "Danger zone")}</h2>
${parts.action_links(dangerous)}
</section>
% endif
${parts.by_hand(commands)}

## Where the console begins.
##   scope: str | None       the organization of the figures; None for the whole installation
##   figures: dict | None    {stats: list, plots: list, table: dict | None: as in console/plot.mako, view_url: str,
##                           periods: list of {text: str, url: str, is_current: bool}}
##   events: dict | None     {entries: list of EventEntry (handlers/console/events/entries.py), url: str}
##   actions: list[dict]     {label: Message, url: str, is_dangerous: bool}
##   tasks: list[dict]       {title, text: Message, is_done: bool | None, url: str | None}
##   progress: (int, int) | None  how many of the tasks are done, and of how many that is known
##   sections: list[dict]    {label: Message, url: str}
##   commands: list[dict]    the figures in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%namespace name="plot" file="plot.mako"/>\
<%def name="title()">${pgettext("console", "Overview")}</%def>\
<%def name="heading(title)">
<div class="head">
<h1>${title}</h1>
${parts.action_links(actions)}
</div>
</%def>\
<% is_done = progress is not None and progress[0] == progress[1] %>\
<div class="dashboard">
% if tasks and not is_done:
${checklist(True)}
% endif
% if figures:
<div class="scope">
<p class="hint">\
% if scope:
${isolated(scope)}.
% else:
${pgettext("figures", "The whole installation.")}
% endif
${pgettext("figures", "Figures are approximate. Days and months are in UTC.")}</p>
<ul class="periods" aria-label="${pgettext('figures', 'Period')}">
% for period in figures["periods"]:
<li><a href="${web_link(period['url'])}"${html_attributes({"aria-current": "true" if period["is_current"] else None})}>${period["text"]}</a></li>
% endfor
</ul>
</div>
${plot.stats(figures["stats"])}
% if figures["table"]:
${plot.table(figures["table"])}
% else:
<div class="plots">
% for each in figures["plots"]:
${plot.plot(each)}
% endfor
</div>
% endif
<p><a href="${web_link(figures['view_url'])}">${pgettext("figures", "Show as charts") if figures["table"] else pgettext("figures", "Show as a table")}</a></p>
% endif
% if events:
<section class="card">
<div class="scope">
<h2>${pgettext("figures", "Latest events")}</h2>
<p><a href="${web_link(events['url'])}">${pgettext("figures", "All events")}</a></p>
</div>
${parts.events(events["entries"], pgettext("figures", "No events yet."), is_brief=True)}
</section>
% endif
% if tasks and is_done:
${checklist(False)}
% endif
% if sections:
<h2>${pgettext("console", "Organizations you manage")}</h2>
<ul>
% for section in sections:
<li><a href="${web_link(section['url'])}">${translated(section["label"])}</a></li>
% endfor
</ul>
% endif
</div>
${parts.by_hand(commands)}
<%def name="checklist(is_open)">
<details class="card"${html_attributes({"open": is_open})}>
<summary class="scope"><h2>${pgettext("console", "Get started")}</h2> <span class="hint">${rich(pgettext("figures", "%(done)s of %(total)s done"), done=isolated(str(progress[0])), total=isolated(str(progress[1])))}</span></summary>
<ol class="steps">
% for task in tasks:
<li>
% if task["is_done"]:
<span class="mark" aria-hidden="true">✓</span>
% elif task["is_done"] is None:
<span class="mark" aria-hidden="true">•</span>
% else:
<span class="mark" aria-hidden="true">○</span>
% endif
<div>
% if web_link(task["url"]):
<a href="${web_link(task['url'])}">${translated(task["title"])}</a>\
% else:
<strong>${translated(task["title"])}</strong>\
% endif
% if task["is_done"]:
 <span class="chip" data-kind="good">${pgettext("console", "done")}</span>\
% elif task["is_done"] is not None:
 <span class="chip">${pgettext("console", "to do")}</span>\
% endif

<p>${translated(task["text"])}</p>
</div>
</li>
% endfor
</ol>
</details>
</%def>

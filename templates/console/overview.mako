## Where the console begins.
##   tasks: list[dict]       {title, text: Message, is_done: bool | None, url: str | None}
##   sections: list[dict]    {label: Message, url: str}
##   commands: list[dict]    the tasks in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${pgettext("console", "Overview")}</%def>\
% if tasks:
<h2>${pgettext("console", "Get started")}</h2>
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
${parts.by_hand(commands)}
% endif
% if sections:
<h2>${pgettext("console", "Organizations you manage")}</h2>
<ul>
% for section in sections:
<li><a href="${web_link(section['url'])}">${translated(section["label"])}</a></li>
% endfor
</ul>
% endif

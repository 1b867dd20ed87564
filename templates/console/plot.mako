## Parts of pages with figures over time; their values are made by handlers/console/plots.py and figures.py.

## A plot, with a sentence in place of the picture:
##   {kind: str, title: Message, empty: Message | None, sentence: str, labels: list[Message],
##    paths: list[(str, str)], scale: list[str], times: list[str]}
<%def name="plot(plot)">
<figure class="card plot">
<figcaption>
<h2>${translated(plot["title"])}</h2>
% if not plot["empty"]:
<ul class="legend">
% for n, label in enumerate(plot["labels"], start=1):
<li><svg viewBox="0 0 24 12" aria-hidden="true">\
% if plot["kind"] == "lines":
<path class="line-${n}" d="M0 6H24"/><path class="mark-${n}" d="M12 6Z"/>\
% else:
<path class="bar-${n}" d="M7 1H17V11H7Z"/>\
% endif
</svg>${translated(label)}</li>
% endfor
</ul>
% endif
</figcaption>
% if plot["empty"]:
<p class="empty">${translated(plot["empty"])}</p>
% else:
<div class="plot-field">
<ol class="scale" aria-hidden="true">
% for text in plot["scale"]:
<li>${text}</li>
% endfor
</ol>
<svg role="img" aria-label="${plot['sentence']}" viewBox="0 0 1000 200" preserveAspectRatio="none">
<path class="grid" d="M0 0H1000M0 100H1000M0 200H1000"/>
% for look, data in plot["paths"]:
<path class="${look}" d="${data}"/>
% endfor
</svg>
<ol class="times" aria-hidden="true">
% for text in plot["times"]:
<li>${text}</li>
% endfor
</ol>
</div>
% endif
</figure>
</%def>

## All numbers of the plots; `table` is {labels: list[Message], rows: list[(str, list[str])]}.
<%def name="table(table)">
<div class="card">
<div class="scroll" tabindex="0" role="group" aria-label="${pgettext('figures', 'Figures over time')}">
<table>
<thead><tr><th scope="col">${pgettext("figures", "Time")}</th>\
% for label in table["labels"]:
<th scope="col">${translated(label)}</th>\
% endfor
</tr></thead>
<tbody>
% for text, numbers in table["rows"]:
<tr><th>${text}</th>\
% for number in numbers:
<td>${number}</td>\
% endfor
</tr>
% endfor
</tbody>
</table>
</div>
</div>
</%def>

## Numbers of today; `stats` is list of {label: Message, icon: str, number: str, detail: Message | None}.
<%def name="stats(stats)">
<dl class="stats">
% for stat in stats:
<div class="card stat">
<dt>${icon(stat["icon"])}${translated(stat["label"])}</dt>
<dd><bdi>${stat["number"]}</bdi></dd>
% if stat["detail"]:
<dd class="hint">${translated_with_values(stat["detail"])}</dd>
% endif
</div>
% endfor
</dl>
</%def>

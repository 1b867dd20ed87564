## Parts of the console's pages: inputs, chips, lists, the same for a shell.
<%namespace name="form" file="/form.mako"/>\

## All inputs; those of a group stand in a part that opens, and is open where there is something.
<%def name="entries(fields)">
% for group, members in grouped(fields):
% if group is None:
% for field in members:
${entry(field)}
% endfor
% else:
<details class="group"${" open" if is_used(members, problems) else ""}>
<summary>${translated(group)}</summary>
% for field in members:
${entry(field)}
% endfor
</details>
% endif
% endfor
</%def>

## An input with its label, hint and problems; `field` is made by handlers/forms/fields.py:
##   {name, kind: str, label: Message, hint: Message | None,
##    value: str | bool | list[str] | EnteredDuration (handlers/forms/durations.py),
##    options: list[(str, Message | str)], attributes: dict, group: Message | None, is_used: bool}
<%def name="entry(field)">
% if field["kind"] == "choice":
${choice(field)}
% elif field["kind"] == "choices":
${choices(field)}
% elif field["kind"] == "colour":
${colour(field)}
% elif field["kind"] == "switch":
${switch(field["name"], translated(field["label"]), "on", field["value"], field["hint"])}
% elif field["kind"] == "duration":
${duration(field)}
% elif field["kind"] in ("free", "lines"):
${area(field)}
% elif field["kind"] == "password":
${form.password_field(field["name"], translated(field["label"]), field["attributes"]["autocomplete"], hint=translated(field["hint"]) if field["hint"] else None, required=field["attributes"]["required"])}
% else:
${form.field(field["name"], translated(field["label"]), hint=translated(field["hint"]) if field["hint"] else None, type=type_of(field), value=field["value"], **field["attributes"])}
% endif
</%def>

<%!
    from itertools import groupby

    def grouped(fields):
        return [(group, list(members)) for group, members in groupby(fields, lambda each: each["group"])]

    def is_used(members, problems):
        names = {each["name"] for each in members}
        return any(each["is_used"] for each in members) or any(each["field"] in names for each in problems)

    def type_of(field):
        return {"number": "text", "date": "text", "day": "date", "name": "text"}.get(field["kind"], field["kind"])
%>
<%def name="area(field)">
<% labels[field["name"]] = translated(field["label"]) %>\
<div class="field">
<label for="${field['name']}">${translated(field["label"])}</label>
<textarea id="${field['name']}" name="${field['name']}" rows="4"${html_attributes({**field["attributes"], **input_attributes(field["name"], field["hint"], problems, retry_seconds)})}>
${field["value"]}</textarea>
${form.beneath(field["name"], translated(field["hint"]) if field["hint"] else None)}
</div>
</%def>

## A colour as text, with a picker where there are scripts. The text is what is sent.
<%def name="colour(field)">
<% labels[field["name"]] = translated(field["label"]) %>\
<div class="field">
<label for="${field['name']}">${translated(field["label"])}</label>
<div class="colour">
<input id="${field['name']}" name="${field['name']}" type="text" value="${field['value']}"${html_attributes({**field["attributes"], **input_attributes(field["name"], field["hint"], problems, retry_seconds)})}>
<input type="color" hidden data-of="${field['name']}" aria-label="${text_of(field['label'])}">
</div>
${form.beneath(field["name"], translated(field["hint"]) if field["hint"] else None)}
</div>
</%def>

## A page in a frame, beside a form or below what it shows.
<%def name="preview(url)">
<iframe class="preview" name="preview" title="${pgettext('policies', 'Preview')}" src="${web_link(url)}" loading="lazy"></iframe>
</%def>

## A number and its unit.
<%def name="duration(field)">
<%
    labels[field["name"]] = translated(field["label"])
    number, unit = field["value"]
%>\
<div class="field">
<label for="${field['name']}">${translated(field["label"])}</label>
<div class="amount">
<input id="${field['name']}" name="${field['name']}" type="text" inputmode="numeric" value="${number}"${html_attributes({**field["attributes"], **input_attributes(field["name"], field["hint"], problems, retry_seconds)})}>
## TRANSLATORS: Names a choice of seconds, minutes, hours or days, for screen readers.
<label class="unseen" for="${field['name']}.unit">${pgettext("duration", "Unit: %(field)s", field=text_of(field["label"]))}</label>
<select id="${field['name']}.unit" name="${field['name']}.unit">
% for value, label in field["options"]:
<option value="${value}"${" selected" if value == unit else ""}>${text_of(label)}</option>
% endfor
</select>
</div>
${form.beneath(field["name"], translated(field["hint"]) if field["hint"] else None)}
</div>
</%def>

<%def name="choice(field)">
<% labels[field["name"]] = translated(field["label"]) %>\
<div class="field">
<label for="${field['name']}">${translated(field["label"])}</label>
<select id="${field['name']}" name="${field['name']}"${html_attributes(input_attributes(field["name"], field["hint"], problems, retry_seconds))}>
% for value, label in field["options"]:
% if label == value and value.split() == [value]:
## Its text is its value: long lists would else be sent twice.
<option${" selected" if value == field["value"] else ""} dir="auto">${value}</option>
% else:
<option value="${value}"${" selected" if value == field["value"] else ""}${' dir="auto"' if isinstance(label, str) else "" | n}>${text_of(label)}</option>
% endif
% endfor
</select>
${form.beneath(field["name"], translated(field["hint"]) if field["hint"] else None)}
</div>
</%def>

<%def name="choices(field)">
<%
    labels[field["name"]] = translated(field["label"])
    # Of a group: it can be described, but not be invalid.
    attributes = {name: value for name, value in input_attributes(field["name"], field["hint"], problems, retry_seconds).items() if name != "aria-invalid"}
%>\
<fieldset class="field" id="${field['name']}" tabindex="-1"${html_attributes(attributes)}>
<legend>${translated(field["label"])}</legend>
% for value, label in field["options"]:
${switch(field["name"], code(label) if isinstance(label, str) else translated(label), value, value in field["value"], None, f"{field['name']}-{value}")}
% endfor
${form.beneath(field["name"], translated(field["hint"]) if field["hint"] else None)}
</fieldset>
</%def>

<%def name="switch(name, label, value, is_on, hint, id=None)">
<% id = id or name %>\
<div class="switch">
<input type="checkbox" id="${id}" name="${name}" value="${value}"${" checked" if is_on else ""}${html_attributes({"aria-describedby": f"{id}-hint" if hint else None})}>
<label for="${id}">${label}</label>
% if hint:
<p class="hint" id="${id}-hint">${translated(hint)}</p>
% endif
</div>
</%def>

## What does the same without the console.
##   commands: list[dict]    {label: Message, line: str}
<%def name="by_hand(commands)">
% if commands:
<details>
<summary>${pgettext("console", "Command line")}</summary>
% for command in commands:
<h3>${translated(command["label"])}</h3>
<pre class="fix" dir="ltr" tabindex="0"><code>${command["line"]}</code></pre>
% endfor
</details>
% endif
</%def>

## The filters of a list: {fields, hidden: list[(str, str)], clear_url: str | None, chips: list of
## FilterChip (handlers/console/filter_chips.py)}; sent by GET.
<%def name="search(search)">
<form class="search" role="search" method="get">
% for key, value in search["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
% for field in search["fields"]:
${entry(field)}
% endfor
<div class="row">
<button>${pgettext("console", "Search")}</button>
% if search["clear_url"]:
<a class="button" href="${web_link(search['clear_url'])}">${pgettext("console", "Show all")}</a>
% endif
</div>
</form>
% if search["chips"]:
<ul class="chips" aria-label="${pgettext("console", "Filters in use")}">
% for chip in search["chips"]:
<li><a class="chip" href="${web_link(chip.url)}"><span class="unseen">${pgettext("console", "Remove the filter:")}</span> <span>${translated(chip.label)}: ${name_or_text(chip.value)}</span> ${icon("x")}</a></li>
% endfor
</ul>
% endif
</%def>

## Events, by day: a list of EventEntry (handlers/console/events/entries.py); with `is_brief`, without the
## events themselves.
<%def name="events(entries, empty, is_brief=False)">
% for day, members in groupby(entries, key=lambda entry: day_text(entry.at)):
<% members = list(members) %>\
<h3 class="day"><time datetime="${members[0].at}">${day}</time></h3>
<ol class="log">
% for entry in members:
<li>
% if not is_brief:
${icon(entry.icon)}
% endif
<div>
<p>${rich(translated(entry.sentence), **{name: Markup(capture(linked, link)).strip() for name, link in entry.names.items()})}</p>
% for detail in entry.details:
<p class="hint">${translated_with_values(detail)}</p>
% endfor
% if is_brief:
<p class="hint">${moment(entry.at, "relative")}</p>
% else:
<p class="hint">${moment(entry.at, "relative")} · <a href="${web_link(entry.url)}"><code dir="ltr">${entry.type}</code></a></p>
% if entry.document:
% if entry.request:
<p class="hint">${pgettext("events", "Request ID")}: <a href="${web_link(entry.request.url)}"><code dir="ltr">${entry.request.name}</code></a></p>
% endif
<pre dir="ltr" tabindex="0"><code>${entry.document}</code></pre>
% endif
% endif
</div>
</li>
% endfor
</ol>
% endfor
% if not entries:
<p class="empty">${icon("activity")} <span>${empty}</span></p>
% endif
</%def>

<%def name="linked(link)">
% if link.url:
<a href="${web_link(link.url)}">${isolated(text_of(link.name))}</a>
% else:
${isolated(text_of(link.name))}
% endif
</%def>

## The lists of a record's page, as the head of console/show.mako describes them.
<%def name="record_parts(page_parts)">
% for part in page_parts:
<section class="card">
<div class="head">
<h2>${translated(part["title"])}</h2>
${action_links(part["actions"])}
</div>
% if "entries" in part:
${events(part["entries"], translated(part["empty"]))}
% elif "listing" in part:
<pre class="listing" dir="ltr" tabindex="0" role="group" aria-label="${text_of(part["title"])}"><code>${part["listing"]}</code></pre>
% else:
${table(translated(part["title"]), part["columns"], part["rows"], part["empty"])}
% endif
${turns(part["first_url"], part["next_url"])}
</section>
% endfor
</%def>

## A state, told apart by its words and not by colour alone.
<%def name="chip(state)">\
<span class="chip"${html_attributes({"data-kind": state["tone"]})}>${translated(state["label"])}</span>\
</%def>

## A value as it is displayed: `cell` is {value, kind: "text", "texts", "lines", "code", "colour", "chip", "time", "duration", "progress", "link", "links", "secret"; url}
<%def name="cell_value(cell)">\
% if cell["kind"] == "chip":
${chip(cell["value"])}\
% elif cell["kind"] == "link":
<a href="${web_link(cell['url'])}">${icon(cell["icon"]) if cell.get("icon") else ""}${name_or_text(cell["value"])}</a>\
% elif cell["kind"] == "colour":
<svg class="swatch" aria-hidden="true" width="16" height="16"><rect width="16" height="16" fill="${cell['value']}"/></svg> <code dir="ltr">${cell["value"]}</code>\
% elif cell["kind"] == "code":
<code dir="ltr">${cell["value"]}</code>\
% elif cell["kind"] == "time" and web_link(cell["url"]):
<a href="${web_link(cell['url'])}">${moment(cell["value"])}</a>\
% elif cell["kind"] == "moment_ago":
${moment(cell["value"], "relative")}\
% elif cell["kind"] == "duration":
<time datetime="PT${cell["value"]}S">${duration_text(cell["value"])}</time>\
% elif cell["kind"] == "time":
${moment(cell["value"])}\
% elif cell["kind"] == "progress":
<% bar = cell["value"] %>\
<progress value="${bar['done']}" max="${bar['total']}" aria-label="${text_of(bar['label'])}"></progress> <bdi>${bar["done"]} / ${bar["total"]}</bdi>\
% elif cell["kind"] == "lines":
% for value in cell["value"]:
${name_or_text(value) if isinstance(value, str) else translated_with_values(value)}\
% if not loop.last:
<br>
% endif
% endfor
% elif cell["kind"] == "links":
## What was found: for each its name, the address of its page or None, and what distinguishes it or None.
% for name, url, detail in cell["value"]:
% if url:
<a href="${web_link(url)}"><bdi>${name}</bdi></a>\
% else:
<code dir="ltr">${name}</code>\
% endif
% if detail:
 (${name_or_text(detail)})\
% endif
% if not loop.last:
<br>
% endif
% endfor
% elif cell["kind"] == "texts":
% for value in cell["value"]:
<span class="chip">${name_or_text(value)}</span>
% endfor
% else:
${name_or_text(cell["value"])}\
% endif
</%def>

## A translated text, or a name that a user has entered.
<%def name="name_or_text(value)">\
% if isinstance(value, str):
<bdi>${value}</bdi>\
% else:
${translated(value)}\
% endif
</%def>

## The properties of a record: `entries` is a list of {label: Message, cell}.
<%def name="properties(entries)">
<dl class="properties">
% for entry in entries:
<div><dt>${translated(entry["label"])}</dt><dd>${cell_value(entry["cell"])}</dd></div>
% endfor
</dl>
</%def>

## The ways to other pages of a list.
<%def name="turns(first_url, next_url, sizes=())">
% if first_url or next_url:
<div class="row">
% if first_url:
<a class="button" href="${web_link(first_url)}">${pgettext("console", "First page")}</a>
% endif
% if next_url:
<a class="button" href="${web_link(next_url)}" rel="next">${pgettext("console", "Next page")}</a>
% endif
% if sizes:
<p class="sizes">${pgettext("console", "Rows per page:")}\
% for size in sizes:
 <a href="${web_link(size['url'])}"${html_attributes({"aria-current": "true" if size["is_current"] else None})}>${size["text"]}</a>\
% endfor
</p>
% endif
</div>
% endif
</%def>

## What can be done: links to the pages that do it.
<%def name="action_links(actions)">
% if actions:
<p class="row">
% for action in actions:
<a class="button"${html_attributes({"data-kind": "danger" if action["is_dangerous"] else None})} href="${web_link(action['url'])}">${translated(action["label"])}</a>
% endfor
</p>
% endif
</%def>

## A table that scrolls by itself where it is too wide; `empty` is shown where it has no rows.
## With `boxes`, the value and the name of each row, rows can be selected.
<%def name="table(name, columns, rows, empty=None, boxes=None)">
% if rows:
<div class="scroll" tabindex="0" role="group" aria-label="${Markup(name).striptags()}">
<table>
<thead><tr>
% if boxes:
<th scope="col"><span class="unseen">${pgettext("console", "Select")}</span>\
<label class="box" for="row-all" hidden><input type="checkbox" id="row-all" data-all="user"><span class="unseen">${pgettext("console", "Select all")}</span></label></th>
% endif
% for column in columns:
% if hasattr(column, "direction"):
<th scope="col"${html_attributes({"aria-sort": column.direction})}><a href="${web_link(column.url)}">${translated(column.label)}${icon({"ascending": "arrow-up", "descending": "arrow-down"}[column.direction]) if column.direction else ""}</a></th>
% else:
<th scope="col">${translated(column)}</th>
% endif
% endfor
</tr></thead>
<tbody>
% for n, (first, *others) in enumerate(rows):
<tr>\
% if boxes:
<td><label class="box" for="row-${n}"><input type="checkbox" id="row-${n}" name="user" value="${boxes[n][0]}"><span class="unseen">${rich(pgettext("console", "Select %(name)s"), name=isolated(boxes[n][1]))}</span></label></td>\
% endif
<th scope="row">${cell_value(first)}</th>\
% for cell in others:
<td>${cell_value(cell)}</td>\
% endfor
</tr>
% endfor
</tbody>
</table>
</div>
% else:
<p class="hint">${translated(empty)}</p>
% endif
</%def>

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
<summary>${said(group)}</summary>
% for field in members:
${entry(field)}
% endfor
</details>
% endif
% endfor
</%def>

## An input with its label, hint and problems; `field` is made by handlers/forms/fields.py:
##   {name, kind: str, label: Message, hint: Message | None, value: str | bool | list[str],
##    options: list[(str, Message | str)], attributes: dict, group: Message | None, is_used: bool}
<%def name="entry(field)">
% if field["kind"] == "choice":
${choice(field)}
% elif field["kind"] == "choices":
${choices(field)}
% elif field["kind"] == "switch":
${switch(field["name"], said(field["label"]), "on", field["value"], field["hint"])}
% elif field["kind"] in ("free", "lines"):
${area(field)}
% elif field["kind"] == "password":
${form.password_field(field["name"], said(field["label"]), field["attributes"]["autocomplete"], hint=said(field["hint"]) if field["hint"] else None, required=field["attributes"]["required"])}
% else:
${form.field(field["name"], said(field["label"]), hint=said(field["hint"]) if field["hint"] else None, type=type_of(field), value=field["value"], **field["attributes"])}
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
        return {"number": "text", "date": "text"}.get(field["kind"], field["kind"])

    def described(field, mistakes):
        ends = ["hint"] * bool(field["hint"]) + ["problem"] * bool(mistakes)
        return {
            "aria-describedby": " ".join(f"{field['name']}-{end}" for end in ends) or None,
            "aria-invalid": "true" if mistakes else None,
        }
%>
<%def name="above(field, mistakes)">
% if field["hint"]:
<p class="hint" id="${field['name']}-hint">${said(field["hint"])}</p>
% endif
% if mistakes:
<div class="problem" id="${field['name']}-problem">
% for text in mistakes:
<p>${said(text)}</p>
% endfor
</div>
% endif
</%def>

<%def name="area(field)">
<% mistakes = problems_of(problems, field["name"]) %>\
<div class="field">
<label for="${field['name']}">${said(field["label"])}</label>
${above(field, mistakes)}
<textarea id="${field['name']}" name="${field['name']}" rows="4"${html_attributes({**field["attributes"], **described(field, mistakes)})}>
${field["value"]}</textarea>
</div>
</%def>

<%def name="choice(field)">
<% mistakes = problems_of(problems, field["name"]) %>\
<div class="field">
<label for="${field['name']}">${said(field["label"])}</label>
${above(field, mistakes)}
<select id="${field['name']}" name="${field['name']}"${html_attributes(described(field, mistakes))}>
% for value, label in field["options"]:
<option value="${value}"${" selected" if value == field["value"] else ""}${' dir="auto"' if isinstance(label, str) else "" | n}>${text_of(label)}</option>
% endfor
</select>
</div>
</%def>

<%def name="choices(field)">
<% mistakes = problems_of(problems, field["name"]) %>\
<fieldset class="field" id="${field['name']}" tabindex="-1"${html_attributes({"aria-describedby": described(field, mistakes)["aria-describedby"]})}>
<legend>${said(field["label"])}</legend>
${above(field, mistakes)}
% for value, label in field["options"]:
${switch(field["name"], code(label) if isinstance(label, str) else said(label), value, value in field["value"], None, f"{field['name']}-{value}")}
% endfor
</fieldset>
</%def>

<%def name="switch(name, label, value, is_on, hint, id=None)">
<% id = id or name %>\
<div class="switch">
<input type="checkbox" id="${id}" name="${name}" value="${value}"${" checked" if is_on else ""}${html_attributes({"aria-describedby": f"{id}-hint" if hint else None})}>
<label for="${id}">${label}</label>
% if hint:
<p class="hint" id="${id}-hint">${said(hint)}</p>
% endif
</div>
</%def>

## What does the same without the console.
##   commands: list[dict]    {label: Message, line: str}
<%def name="by_hand(commands)">
% if commands:
<details>
<summary>${pgettext("console", "The same in a shell")}</summary>
% for command in commands:
<h3>${said(command["label"])}</h3>
<pre class="fix" dir="ltr" tabindex="0"><code>${command["line"]}</code></pre>
% endfor
</details>
% endif
</%def>

## A state, told apart by its words and not by colour alone.
<%def name="chip(state)">\
<span class="chip"${html_attributes({"data-tone": state["tone"]})}>${said(state["label"])}</span>\
</%def>

## A value as people read it: `fact` is {label: Message, value, kind: "text", "texts", "lines", "code", "chip", "time", "progress", "link", "secret"; url}
<%def name="fact_value(cell)">\
% if cell["kind"] == "chip":
${chip(cell["value"])}\
% elif cell["kind"] == "link":
<a href="${web_link(cell['url'])}">${name_or_text(cell["value"])}</a>\
% elif cell["kind"] == "code":
<code dir="ltr">${cell["value"]}</code>\
% elif cell["kind"] == "time":
<time dir="ltr">${cell["value"]}</time>\
% elif cell["kind"] == "progress":
<% bar = cell["value"] %>\
<progress value="${bar['done']}" max="${bar['total']}" aria-label="${text_of(bar['label'])}"></progress> <bdi>${bar["done"]} / ${bar["total"]}</bdi>\
% elif cell["kind"] == "lines":
% for value in cell["value"]:
${said_with_values(value)}\
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

## A text of ours, or a name that somebody has given.
<%def name="name_or_text(value)">\
% if isinstance(value, str):
<bdi>${value}</bdi>\
% else:
${said(value)}\
% endif
</%def>

## What is known of one thing.
<%def name="facts(entries)">
<dl class="facts">
% for entry in entries:
<div><dt>${said(entry["label"])}</dt><dd>${fact_value(entry["cell"])}</dd></div>
% endfor
</dl>
</%def>

## The ways to other pages of a list.
<%def name="turns(first_url, next_url)">
% if first_url or next_url:
<p class="row">
% if first_url:
<a class="button quiet" href="${web_link(first_url)}">${pgettext("console", "First page")}</a>
% endif
% if next_url:
<a class="button quiet" href="${web_link(next_url)}" rel="next">${pgettext("console", "Next page")}</a>
% endif
</p>
% endif
</%def>

## What can be done: links to the pages that do it.
<%def name="action_links(actions)">
% if actions:
<p class="row">
% for action in actions:
<a class="button ${'danger' if action['is_dangerous'] else 'quiet'}" href="${web_link(action['url'])}">${said(action["label"])}</a>
% endfor
</p>
% endif
</%def>

## A table that scrolls by itself where it is too wide; `empty` is said where it has no rows.
<%def name="table(name, columns, rows, empty)">
% if rows:
<div class="scroll" tabindex="0" role="group" aria-label="${Markup(name).striptags()}">
<table>
<thead><tr>
% for column in columns:
<th scope="col">${said(column)}</th>
% endfor
</tr></thead>
<tbody>
% for first, *others in rows:
<tr><th scope="row">${fact_value(first)}</th>\
% for cell in others:
<td>${fact_value(cell)}</td>\
% endfor
</tr>
% endfor
</tbody>
</table>
</div>
% else:
<p class="hint">${said(empty)}</p>
% endif
</%def>

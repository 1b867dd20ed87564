## A logo or an icon: as it is, and a form that takes another.
##   title_text: Message
##   origin: dict               whose it is: {label: Message, tone: str | None}
##   picture: dict | None       {url: str, width, height: int, plates: list[Message]}: on which pages it
##                              is displayed on a plate
##   on_dark: bool              whether it stands on dark pages
##   may_write: bool
##   has_own: bool              whether there is one to take away
##   back_url: str
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
<p>${parts.chip(origin)}</p>
% if picture:
<p class="specimen"${html_attributes({"data-scheme": "dark" if on_dark else "light"})}><img src="${web_link(picture['url'])}" alt="${text_of(title_text)}" width="${picture['width']}" height="${picture['height']}"></p>
% endif
% if picture:
% for text in picture["plates"]:
<p class="notice" data-kind="warning">${icon("triangle-alert")} <span>${translated(text)}</span></p>
% endfor
% endif
% if may_write:
<%form:step enctype="multipart/form-data">
${form.field("content", pgettext("policies", "File"), hint=pgettext("policies", "PNG, JPEG or WebP, at most 512 kB and 2000 pixels wide and high. It is re-encoded, and scaled down if needed. SVG is refused because it can contain scripts."), type="file", accept="image/png,image/jpeg,image/webp")}
<div class="row">
<button data-kind="primary">${pgettext("console", "Save")}</button>
% if has_own:
<button data-kind="danger" name="decision" value="remove">${pgettext("policies", "Remove")}</button>
% endif
<a class="button" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>
% else:
<p><a class="button" href="${web_link(back_url)}">${pgettext("policies", "Back")}</a></p>
% endif
${parts.by_hand(commands)}

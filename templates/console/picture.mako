## A logo or an icon: as it is, and a form that takes another.
##   title_text: Message
##   origin: dict               whose it is: {label: Message, tone: str | None}
##   picture: dict | None       {url: str, width: int, height: int}
##   on_dark: bool              whether it stands on dark pages
##   may_write: bool
##   has_own: bool              whether there is one to take away
##   back_url: str
##   commands: list[dict]       the same in a shell: {label: Message, line: str}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%namespace name="parts" file="parts.mako"/>\
<%def name="title()">${said(title_text)}</%def>\
<p>${parts.chip(origin)}</p>
% if picture:
<p class="specimen"${html_attributes({"data-scheme": "dark" if on_dark else "light"})}><img src="${web_link(picture['url'])}" alt="${text_of(title_text)}" width="${picture['width']}" height="${picture['height']}"></p>
% endif
% if may_write:
<%form:step enctype="multipart/form-data">
${form.field("content", pgettext("policies", "File"), hint=pgettext("policies", "PNG, JPEG or WebP, at most 512 kB and 2000 pixels wide and high. It is drawn anew, and made smaller if it is larger than needed. SVG is refused: it can hold scripts."), type="file", accept="image/png,image/jpeg,image/webp")}
<div class="row">
<button>${pgettext("console", "Save")}</button>
% if has_own:
<button class="danger" name="decision" value="remove">${pgettext("policies", "Take it away")}</button>
% endif
<a class="button quiet" href="${web_link(back_url)}">${pgettext("page", "Cancel")}</a>
</div>
</%form:step>
% else:
<p><a class="button quiet" href="${web_link(back_url)}">${pgettext("policies", "Back")}</a></p>
% endif
${parts.by_hand(commands)}

## New recovery codes, which are shown once.
##   codes: list[str]
##   file_url: str       the same as a file
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("factor", "Keep your recovery codes")}</%def>\
<p>${pgettext("factor", "When your device is lost, one of these codes gets you in. Each counts once. Print or write them down, and keep them in a safe place: they are never shown again.")}</p>
${form.code_list(codes, file_url)}
<p><a class="button" href="/ui/account/security">${pgettext("factor", "I have kept them")}</a></p>

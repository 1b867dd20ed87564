## New recovery codes, which are shown once.
##   codes: list[str]
##   file_url: str       the same as a file
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("factor", "Save your recovery codes")}</%def>\
<p>${pgettext("factor", "If you lose your device, sign in with one of these codes. Each works once.")}
${pgettext("factor", "Print them or save them in a safe place: we can't show them again.")}</p>
${form.code_list(codes, file_url)}
<p><a class="button" data-kind="primary" href="/ui/account/security">${pgettext("factor", "I've saved them")}</a></p>

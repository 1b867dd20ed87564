## Something failed, or does not exist.
##   title_text, sentence: Message | str | None    None: a failure on our side
##   detail: Message | None     the same for programmers, in English
##   retry_url: str | None      a page that may be requested again
##   retry_form: dict | None    the same as a form: its method, action and fields, where that is more
##                              than the address
<%inherit file="page.mako"/>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${translated(title_text) if title_text else pgettext("error", "Something went wrong on our side")}</%def>\
% if sentence:
<p>${translated(sentence)}</p>
% if detail:
<p>${rich(pgettext("page", "Technical detail: %(detail)s"), detail=translated(detail))}</p>
% endif
% else:
<p>${pgettext("error", "It's not your fault. Try again in a moment.")}</p>
% endif
% if retry_form:
<form method="${retry_form['method']}" action="${retry_form['action']}">
% for name, value in retry_form["fields"]:
<input type="hidden" name="${name}" value="${value}">
% endfor
<button data-kind="primary">${pgettext("error", "Try again")}</button>
</form>
<p class="way"><a href="${web_link(retry_url)}">${pgettext("error", "Open the same address again")}</a></p>
% elif web_link(retry_url):
<p><a class="button" data-kind="primary" href="${web_link(retry_url)}">${pgettext("error", "Try again")}</a></p>
% else:
<p><a class="button" data-kind="primary" href="/">${pgettext("page", "Go to the start page")}</a></p>
% endif
${form.for_support()}

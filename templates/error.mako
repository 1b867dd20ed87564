## Something failed, or is not to be had.
##   title_text, sentence: Message | str | None    None: a failure on our side
##   detail: Message | None     the same for programmers, in English
##   request_id: str
##   time: str                  in UTC, as the log has it
##   retry_url: str | None      a page that may be asked for again
##   retry_form: dict | None    the same as a form: its method, action and fields, where that is more
##                              than the address
<%inherit file="page.mako"/>\
<%def name="title()">${said(title_text) if title_text else pgettext("error", "Something failed on our side")}</%def>\
% if sentence:
<p>${said(sentence)}</p>
% if detail:
<p>${rich(pgettext("page", "Technical detail: %(detail)s"), detail=said(detail))}</p>
% endif
% else:
<p>${pgettext("error", "You have done nothing wrong. Please try again in a moment.")}</p>
% endif
<p>${pgettext("error", "If it happens again, give support this number and time:")}</p>
<p class="fact"><code dir="ltr">${request_id}</code><br><time dir="ltr">${time}</time></p>
% if retry_form:
<form method="${retry_form['method']}" action="${retry_form['action']}">
% for name, value in retry_form["fields"]:
<input type="hidden" name="${name}" value="${value}">
% endfor
<button>${pgettext("error", "Try again")}</button>
</form>
<p><a href="${web_link(retry_url)}">${pgettext("error", "Open the same address again")}</a></p>
% elif web_link(retry_url):
<p><a class="button" href="${web_link(retry_url)}">${pgettext("error", "Try again")}</a></p>
% else:
<p><a class="button" href="/">${pgettext("page", "Go to the start page")}</a></p>
% endif

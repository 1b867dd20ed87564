## Mails that are held, because the service is not set up to send any; for developers.
##   mails: list[dict]             {to, subject, text, time: str, url: str | None}
##   first_url, next_url: str | None    other pages of them
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%namespace name="parts" file="console/parts.mako"/>\
<%def name="title()">${pgettext("held-mail", "Captured email")}</%def>\
<p>${pgettext("held-mail", "This service isn't set up to send email. It captures its emails here for seven days, newest first.")}</p>
% if not mails:
<p>${pgettext("held-mail", "No email yet.")}</p>
% endif
% for mail in mails:
<h2><bdi>${mail["subject"]}</bdi></h2>
<p class="hint">${rich(pgettext("held-mail", "To %(address)s"), address=strong(mail["to"]))} · ${moment(mail["time"])}</p>
<pre class="letter" dir="auto">${mail["text"]}</pre>
% if web_link(mail["url"]):
<p><a href="${web_link(mail['url'])}">${pgettext("held-mail", "Open its link")}</a></p>
% endif
% endfor
${parts.turns(first_url, next_url)}

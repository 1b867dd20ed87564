## What was made, with what is shown only here.
##   title_text: Message
##   secrets: list[dict]    {label: Message, value: str}
##   has_file: bool         whether the form, sent again, answers with a file to keep
##   next_url: str
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${translated(title_text)}</%def>\
<p class="notice">${pgettext("console", "We show this only once. Save it now.")}</p>
% for n, secret in enumerate(secrets):
<h2 id="secret-${n}">${translated(secret["label"])}</h2>
<pre class="fix" dir="ltr" tabindex="0" aria-labelledby="secret-${n}" role="group"><code>${secret["value"]}</code></pre>
% endfor
% if has_file:
<%form:step>
<button name="keep" value="file">${pgettext("console", "Download")}</button>
</%form:step>
% endif
<p><a class="button" data-kind="primary" href="${web_link(next_url)}">${pgettext("console", "I've saved it")}</a></p>

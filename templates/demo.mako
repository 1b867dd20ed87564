## An application that signs people in with this service, and shows each request it makes.
##   sign_in_url: str           begins a sign-in; no query, `prompt` is added
##   claims: dict | None        of the ID token; None: nobody is signed in
##   userinfo: dict | None      what userinfo answered
##   tokens: list[dict]         {name, kind, value: str}, the value cut short
##   can_refresh: bool
##   steps: list[dict]          {title: Message | str, request, response: str}, as they were sent
## Buttons of the form, named `decision`: `refresh`, `logout`.
<%inherit file="page.mako"/>\
<%! layout = "wide" %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">\
% if claims:
${pgettext("demo", "Signed in to the demo application")}\
% else:
${pgettext("demo", "Demo application")}\
% endif
</%def>\
<%def name="table(caption, values)">
<div class="scroll" tabindex="0" role="group" aria-label="${caption}">
<table>
<caption>${caption}</caption>
<tbody>
% for key, value in values:
<tr><th scope="row"><code dir="ltr">${key}</code></th><td><code dir="${'auto' if isinstance(value, str) else 'ltr'}">${as_text(value)}</code></td></tr>
% endfor
</tbody>
</table>
</div>
</%def>\
% if not claims:
<p>${pgettext("demo", "This application works like yours: it never sees passwords and asks this service who you are. Every request that it makes is shown here.")}</p>
<p><a class="button" data-kind="primary" href="${web_link(sign_in_url)}">${pgettext("demo", "Sign in")}</a></p>
<p><a href="${web_link(sign_in_url)}?prompt=create">${pgettext("register", "Create an account")}</a> <code dir="ltr">prompt=create</code></p>
% else:
<%form:step>
<div class="row">
% if can_refresh:
<button data-kind="primary" name="decision" value="refresh">${pgettext("demo", "Refresh the tokens")}</button>
% endif
<button name="decision" value="logout">${pgettext("demo", "Sign out")}</button>
</div>
</%form:step>
<h2>${pgettext("demo", "Send another request")}</h2>
<%
    again = {
        "login": pgettext("demo", "Sign in again with the password"),
        "none": pgettext("demo", "Sign in silently, without a page"),
        "select_account": pgettext("demo", "Sign in with another account"),
    }
%>\
<ul>
% for prompt, text in again.items():
<li><a href="${web_link(sign_in_url)}?prompt=${prompt}">${text}</a> <code dir="ltr">prompt=${prompt}</code></li>
% endfor
</ul>
${table(pgettext("demo", "Claims of the ID token"), claims.items())}
% if userinfo:
${table(pgettext("demo", "Userinfo response"), userinfo.items())}
% endif
<div class="scroll" tabindex="0" role="group" aria-labelledby="tokens">
<table>
<caption id="tokens">${pgettext("demo", "Tokens")}</caption>
<thead><tr>
<th scope="col">${pgettext("demo", "Token")}</th>
<th scope="col">${pgettext("demo", "Kind")}</th>
<th scope="col">${pgettext("demo", "Value")}</th>
</tr></thead>
<tbody>
% for token in tokens:
<tr><th scope="row"><code dir="ltr">${token["name"]}</code></th><td><code dir="ltr">${token["kind"]}</code></td><td><code dir="ltr">${token["value"]}</code></td></tr>
% endfor
</tbody>
</table>
</div>
% endif
% if steps:
<h2>${pgettext("demo", "Requests and responses")}</h2>
% for step in steps:
<details>
<summary>${translated(step["title"])}</summary>
<h3>${pgettext("demo", "Request")}</h3>
<pre dir="ltr" tabindex="0">${step["request"]}</pre>
<h3>${pgettext("demo", "Response")}</h3>
<pre dir="ltr" tabindex="0">${step["response"]}</pre>
</details>
% endfor
% endif

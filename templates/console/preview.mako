## A sign-in page with certain branding, for a frame; its form leads nowhere.
##   example: str             which page: "login-name", "password" or "accounts"
##   choices: list[list[dict]]    {label: Message | str, tag: str | None, url: str, is_current: bool}: the
##                            other pages, schemes and languages; `tag` is the language of the label
<%inherit file="/page.mako"/>\
<%! asking, has_languages = True, False %>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">\
% if example == "accounts":
${pgettext("accounts", "Choose an account")}\
% elif example == "password":
${pgettext("password", "Enter your password")}\
% else:
${pgettext("login-name", "Sign in")}\
% endif
</%def>\
<%def name="above()">\
<nav class="preview" aria-label="${pgettext('policies', 'Preview')}">
% for links in choices:
<ul>
% for link in links:
<li><a href="${web_link(link['url'])}"${html_attributes({"lang": link["tag"], "aria-current": "page" if link["is_current"] else None})}>${link["label"] if link["tag"] else translated(link["label"])}</a></li>
% endfor
</ul>
% endfor
</nav>
</%def>\
## Outside of a dialog, a form of this method is sent nowhere.
<form method="dialog">
% if example == "accounts":
<ul class="accounts">
% for name in ("Minnie Mouse", "Mickey Mouse"):
<li><button class="account">${form.person(name, name.split()[0].lower() + "@acme.example")}</button></li>
% endfor
</ul>
% elif example == "password":
${form.account_field("minnie@acme.example")}
${form.password_field("password", pgettext("page", "Password"), "off")}
<button data-kind="primary">${pgettext("password", "Sign in")}</button>
% else:
${form.field("loginName", pgettext("page", "Email or username"), type="text", autocomplete="off", dir="auto")}
<button data-kind="primary">${pgettext("page", "Continue")}</button>
% endif
<button data-kind="quiet">${pgettext("page", "Cancel")}</button>
</form>

## A page as it looks with certain colours; its form leads nowhere.
##   views: list[dict]    {label: Message, tag: str, language: str, url: str, is_current: bool}:
##                       the same in another scheme or language
##   back_url: str
<%inherit file="/page.mako"/>\
<%! asking, has_languages = True, False %>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("password", "Enter your password")}</%def>\
<%def name="above()">\
<nav class="preview" aria-label="${pgettext('policies', 'Preview')}">
<ul>
% for view in views:
<li><a href="${web_link(view['url'])}"${html_attributes({"aria-current": "page" if view["is_current"] else None})}>${translated(view["label"])} · <span lang="${view['tag']}">${view["language"]}</span></a></li>
% endfor
<li><a href="${web_link(back_url)}">${pgettext("policies", "Back")}</a></li>
</ul>
</nav>
</%def>\
## Outside of a dialog, a form of this method is sent nowhere.
<form method="dialog">
${form.account_field("minnie@acme.example")}
${form.password_field("password", pgettext("page", "Password"), "off")}
<button data-kind="primary">${pgettext("password", "Sign in")}</button>
<button>${pgettext("page", "Cancel")}</button>
</form>

## The frame of the pages of somebody's own account, inside of that of all pages: who they are, and
## the way to everything else. `area` is None, or:
##   {sections: list of {label: Message, url: str, is_current: bool},
##    person, login_name, change_url: str, console_url: str | None, logout_url: str}
<%inherit file="/page.mako"/>\
<%def name="styles()">\
<link rel="stylesheet" href="${static_url('console.css')}">
</%def>\
<%def name="around()">\
<a class="skip" href="#main">${pgettext("console", "Skip to the content")}</a>
% if area:
<nav aria-label="${pgettext('account', 'Your account')}">
<div class="whereabouts">
<p>${strong(area["person"])} <bdi class="hint">${area["login_name"]}</bdi>
<a href="${web_link(area['change_url'])}">${pgettext("console", "Choose another account")}</a></p>
<p>
% if area["console_url"]:
<a href="${web_link(area['console_url'])}">${pgettext("signed-in", "Open the console")}</a>
% endif
<a href="${web_link(area['logout_url'])}">${pgettext("logout", "Sign out")}</a></p>
</div>
<ul>
% for section in area["sections"]:
<li><a href="${web_link(section['url'])}"${html_attributes({"aria-current": "page" if section["is_current"] else None})}>${said(section["label"])}</a></li>
% endfor
</ul>
</nav>
% endif
</%def>\
${next.body()}

## The frame of the pages of a user's own account, inside of that of all pages: who they are, and the
## way to everything else. `area` is None, or:
##   {sections: list of {label: Message, icon, url: str, is_current: bool},
##    person, login_name, change_url: str, console_url: str | None, logout_url: str}
<%inherit file="/page.mako"/>\
<%! layout = "console" %>\
<%def name="styles()">\
<link rel="stylesheet" href="${static_url('console.css')}">
</%def>\
<%def name="sections()">
<ul>
% for section in area["sections"]:
<li><a href="${web_link(section['url'])}"${html_attributes({"aria-current": "page" if section["is_current"] else None})}>${icon(section["icon"])} <span>${translated(section["label"])}</span></a></li>
% endfor
</ul>
</%def>\
<%def name="around()">\
<a class="skip" href="#main">${pgettext("console", "Skip to content")}</a>
% if area:
<aside class="whereabouts">
<p class="account-name"><span class="initial" aria-hidden="true">${area["person"][:1].upper()}</span> <span>${strong(area["person"])} <bdi class="hint">${area["login_name"]}</bdi></span></p>
<ul class="links">
<li><a href="${web_link(area['change_url'])}">${pgettext("account", "Switch account")}</a></li>
% if area["console_url"]:
<li><a href="${web_link(area['console_url'])}">${pgettext("signed-in", "Open the console")}</a></li>
% endif
<li><a href="${web_link(area['logout_url'])}">${pgettext("logout", "Sign out")}</a></li>
</ul>
</aside>
<% here = [section for section in area["sections"] if section["is_current"]] %>\
## One of the two is shown: beside the page where there is room, above it otherwise.
<nav class="side" aria-label="${pgettext('account', 'Your account')}">${sections()}</nav>
<nav class="above" aria-label="${pgettext('account', 'Your account')}">
<details>
<summary>${icon("menu")} <span>${translated(here[0]["label"]) if here else pgettext("account", "Your account")}</span></summary>
${sections()}
</details>
</nav>
% endif
</%def>\
${next.body()}

## The frame of the console's pages, inside of that of all pages: where somebody is, and the way
## to everything else. `console` is None, or:
##   {groups: list of {label: Message | None,
##                     sections: list of {label: Message, icon, url: str, is_current: bool}},
##    breadcrumbs: list of Breadcrumb (handlers/console/base.py),
##    search: None or {url: str, hidden: list[(str, str)], text: str},
##    person: str, organization: str | None, change_url, account_url, logout_url: str | None}
<%inherit file="/page.mako"/>\
<%! layout = "console" %>\
<%def name="styles()">\
<link rel="stylesheet" href="${static_url('console.css')}">
<script src="${static_url('console.js')}" defer></script>
</%def>\
<%def name="above()"><a class="skip" href="#main">${pgettext("console", "Skip to content")}</a>
</%def>\
<%def name="around()">\
% if console:
<details class="menu self">
<summary aria-label="${pgettext('console', 'Signed in as %(name)s', name=console['person'])}"><span class="initial" aria-hidden="true">${console["person"][:1].upper()}</span> <bdi>${console["person"]}</bdi></summary>
<ul>
<li><a href="${web_link(console['account_url'])}">${pgettext("account", "Your account")}</a></li>
<li><a href="${web_link(console['logout_url'])}">${pgettext("logout", "Sign out")}</a></li>
</ul>
</details>
% if console["groups"]:
<button class="opener" popovertarget="sections" aria-label="${pgettext('console', 'Menu')}">${icon("menu")}</button>
% endif
## On a phone it opens by the button.
<nav id="sections" popover aria-label="${pgettext('console', 'Console')}">
% if console["organization"]:
<p class="organization">${icon("building-2")} <span><span class="unseen">${pgettext("console", "Organization:")}</span> ${strong(console["organization"])}</span>
% if console["change_url"]:
<a href="${web_link(console['change_url'])}">${pgettext("console", "Change")}</a>
% endif
</p>
% endif
% for group in console["groups"]:
% if group["label"]:
<p class="group" id="group-${loop.index}">${translated(group["label"])}</p>
% endif
<ul${html_attributes({"aria-labelledby": f"group-{loop.index}" if group["label"] else None})}>
% for section in group["sections"]:
<li><a href="${web_link(section['url'])}"${html_attributes({"aria-current": "page" if section["is_current"] else None})}>${icon(section["icon"])} <span>${translated(section["label"])}</span></a></li>
% endfor
</ul>
% endfor
</nav>
% if console["search"]:
<form class="find" role="search" method="get" action="${web_link(console['search']['url'])}">
% for key, value in console["search"]["hidden"]:
<input type="hidden" name="${key}" value="${value}">
% endfor
<label for="find">${pgettext("search", "Search the console")}</label>
<input type="search" id="find" name="q" value="${console['search']['text']}" minlength="2" maxlength="200" required dir="auto" autocomplete="off" spellcheck="false" aria-keyshortcuts="Control+K">
<button aria-label="${pgettext('search', 'Search')}">${icon("search")}</button>
</form>
% endif
% if console["breadcrumbs"]:
<nav class="breadcrumbs" aria-label="${pgettext('console', 'Breadcrumb')}">
<ol>
% for crumb in console["breadcrumbs"]:
<li><a href="${web_link(crumb.url)}">${isolated(crumb.name) if isinstance(crumb.name, str) else translated(crumb.name)}</a></li>
% endfor
</ol>
</nav>
% endif
% endif
</%def>\
${next.body()}

## The frame of the console's pages, inside of that of all pages: where somebody is, and the way
## to everything else. `console` is None, or:
##   {sections: list of {label: Message, url: str, is_current: bool},
##    search: None or {url: str, hidden: list[(str, str)], text: str},
##    person: str, organization: str | None, change_url, account_url, logout_url: str | None}
<%inherit file="/page.mako"/>\
<%! layout = "console" %>\
<%def name="styles()">\
<link rel="stylesheet" href="${static_url('console.css')}">
<script src="${static_url('console.js')}" defer></script>
</%def>\
<%def name="around()">\
<a class="skip" href="#main">${pgettext("console", "Skip to content")}</a>
% if console:
<nav aria-label="${pgettext('console', 'Console')}">
<div class="whereabouts">
% if console["organization"]:
<p>${pgettext("console", "Organization:")} ${strong(console["organization"])}
% if console["change_url"]:
<a href="${web_link(console['change_url'])}">${pgettext("console", "Change")}</a>
% endif
</p>
% endif
<p><a href="${web_link(console['account_url'])}"><bdi>${console["person"]}</bdi></a> <a href="${web_link(console['logout_url'])}">${pgettext("logout", "Sign out")}</a></p>
</div>
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
% if console["sections"]:
<ul>
% for section in console["sections"]:
<li><a href="${web_link(section['url'])}"${html_attributes({"aria-current": "page" if section["is_current"] else None})}>${translated(section["label"])}</a></li>
% endfor
</ul>
% endif
</nav>
% endif
</%def>\
${next.body()}

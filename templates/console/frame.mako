## The frame of the console's pages, inside of that of all pages: where somebody is, and the way
## to everything else. `console` is None, or:
##   {sections: list of {label: Message, url: str, is_current: bool},
##    person: str, organization: str | None, change_url, account_url, logout_url: str | None}
<%inherit file="/page.mako"/>\
<%def name="styles()">\
<link rel="stylesheet" href="${static_url('console.css')}">
</%def>\
<%def name="around()">\
<a class="skip" href="#main">${pgettext("console", "Skip to the content")}</a>
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
% if console["sections"]:
<ul>
% for section in console["sections"]:
<li><a href="${web_link(section['url'])}"${html_attributes({"aria-current": "page" if section["is_current"] else None})}>${said(section["label"])}</a></li>
% endfor
</ul>
% endif
</nav>
% endif
</%def>\
${next.body()}

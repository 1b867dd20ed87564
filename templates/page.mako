## The frame of every page. A page inherits it, defines title() and stands in <main>.
##
## Every page may be given (handlers/pages/rendering.py holds what they are otherwise):
##   service_name: str | None        who runs this service
##   application_name: str | None    who asked for the sign-in
##   application_url: str | None     the application's home page
##   problems: list[dict]            {field: name of an input or None, text: Message or str,
##                                   label: that of the input, where the text alone says too little}
##   notice: Message | str | None    something to know that is no mistake
##   retry_seconds: int | None       too many tries: how long to wait
##   action: str | None              where the step's form posts to; the page's own address if None
##   hidden: list[(str, str)]        the form's hidden inputs
##   query: list[(str, str)]         the parameters of the page's address, kept when the language changes
##   cancellable: bool               whether the form has a Cancel button
##   brand_url: str | None           the colours of the organization that the page is for
##   links: list[(Message, str)]     where the page leads to, such as the terms of service
##   logo: Sign | None               a picture instead of the service's name (idp/policies/pictures.py)
##   logo_name: str | None           whose logo it is, if it is an organization's
##   icon: Sign | None               a picture instead of the service's own mark
##   console: dict | None            what stands around a page of the console (console/frame.mako)
##   area: dict | None               what stands around a page of somebody's account (account/frame.mako)
## A step of signing in sets `asking` at its head: then the page says for which application;
## one that has its own link to the application sets `leads_home` to False, and one that nobody
## stays on sets `has_languages` to False.
<%! asking, leads_home, has_languages = False, True, True %>\
<%def name="styles()"></%def>\
<%def name="around()"></%def>\
## A picture, and the one for dark pages.
<%def name="drawn(sign, kind, **attributes)">\
<picture>\
% if sign.dark:
<source srcset="${sign.dark.url}" media="(prefers-color-scheme: dark)">\
% endif
<img class="${kind}" src="${sign.light.url}"${html_attributes(attributes)}></picture>\
</%def>\
<%namespace name="form" file="form.mako"/>\
<%
    service = service_name or pgettext("page", "Sign-in service")
    is_error = bool(problems) or retry_seconds is not None
    title = Markup(capture(self.title)).strip()
    heading = title.striptags()
    home = web_link(application_url)
%>\
<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
% if is_error:
## TRANSLATORS: The browser's title of a page that shows a problem; the rest is the page's own title.
<title>${pgettext("page", "Error: %(title)s", title=heading)} – ${application_name or service}</title>
% else:
<title>${heading} – ${application_name or service}</title>
% endif
% if icon:
<link rel="icon" href="${icon.light.url}" type="${icon.light.type}">
% if icon.dark:
<link rel="icon" href="${icon.dark.url}" type="${icon.dark.type}" media="(prefers-color-scheme: dark)">
% endif
% else:
<link rel="icon" href="${static_url('icon.svg')}" type="image/svg+xml">
% endif
<link rel="stylesheet" href="${static_url('style.css')}">
% if brand_url:
<link rel="stylesheet" href="${brand_url}">
% endif
${self.styles()}\
<script src="${static_url('page.js')}" defer></script>
</head>
<body data-page="${page}">
<header>
% if logo:
${drawn(logo, "logo", alt=logo_name or service, width=logo.light.width, height=logo.light.height)}
% else:
% if icon:
${drawn(icon, "icon", alt="", width=28, height=28)}
% else:
<img src="${static_url('icon.svg')}" alt="" width="28" height="28">
% endif
<span dir="auto">${service}</span>
% endif
</header>
${self.around()}\
<main id="main" tabindex="-1">
<h1>${title}</h1>
% if self.attr.asking and application_name:
## TRANSLATORS: Under the title of the page; the name of the application that asked for the sign-in.
<p class="asking">${rich(pgettext("page", "to continue to %(application)s"), application=strong(application_name))}</p>
% endif
${form.summary()}
% if notice:
<p class="notice" role="status">${said(notice)}</p>
% endif
${next.body()}
</main>
<footer>
% if self.attr.leads_home and application_name and home:
<p><a href="${home}">${rich(pgettext("page", "Back to %(application)s"), application=strong(application_name))}</a></p>
% endif
% if links:
<ul class="links">
% for label, url in links:
<li><a href="${url}">${said(label)}</a></li>
% endfor
</ul>
% endif
% if self.attr.has_languages and len(languages) > 1:
<form class="language" method="get">
% for key, value in query:
<input type="hidden" name="${key}" value="${value}">
% endfor
<label for="lang">${pgettext("page", "Language")}</label>
<select id="lang" name="lang">
% for tag, endonym in languages:
<option value="${tag}" lang="${tag}"${" selected" if tag == lang else ""}>${endonym}</option>
% endfor
</select>
## TRANSLATORS: The button beside the list of languages.
<button class="quiet">${pgettext("page", "Change")}</button>
</form>
% endif
% if logo and not service_name:
<p>${service}</p>
% endif
</footer>
</body>
</html>

## The frame of every page. A page inherits it, defines title() and stands in <main>.
##
## Every page may be given (handlers/pages/rendering.py holds what they are otherwise):
##   service_name: str | None        who runs this service
##   application_name: str | None    who asked for the sign-in
##   application_url: str | None     the application's home page
##   is_own_area: bool               whether that is no application but an area of this service
##   problems: list[dict]            {field: name of an input or None, text: Message or str}
##   notice: Message | str | None    something to know that is no mistake
##   retry_seconds: int | None       too many tries: how long to wait
##   action: str | None              where the step's form posts to; the page's own address if None
##   hidden: list[(str, str)]        the form's hidden inputs
##   query: list[(str, str)]         the parameters of the page's address, kept when the language changes
##   cancellable: bool               whether the form has a Cancel button
##   brand_url: str | None           the colours of the organization that the page is for
##   links: list[(Message, str)]     where the page leads to, such as the terms of service
##   brand_layout: str               the layout of a page with a card: "card", "split" or "plain"
##   backdrop: PictureReference | None    the picture beside the card
##   logo: Sign | None               a picture instead of the service's name (idp/policies/pictures.py)
##   logo_name: str | None           whose logo it is, if it is an organization's
##   site_icon: Sign | None               a picture instead of the service's own mark
##   request_id: str                 that of this request, for support
##   now: datetime                   the time of this request
##   time_zone: tzinfo               in which the page shows times
##   console: dict | None            what stands around a page of the console (console/frame.mako)
##   area: dict | None               what stands around a page of somebody's account (account/frame.mako)
## A step of signing in sets `asking` at its head: then the page says for which application. One that
## nobody stays on sets `has_languages` to False. `layout` is "card", "wide" for long texts, or
## "console" for pages with a navigation.
<%! asking, has_languages, layout = False, True, "card" %>\
<%def name="styles()"></%def>\
<%def name="above()"></%def>\
<%def name="around()"></%def>\
<%def name="heading(title)"><h1>${title}</h1></%def>\
## A picture, and the one for dark pages.
<%def name="drawn(sign, kind, **attributes)">\
<picture${html_attributes({f"data-plate-on-{scheme}": plate for scheme, plate in sign.plates.items()})}>\
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
    # First, because it decides where the problems are shown.
    content = Markup(capture(next.body)).strip()
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
% if site_icon:
<link rel="icon" href="${site_icon.light.url}" type="${site_icon.light.type}">
% if site_icon.dark:
<link rel="icon" href="${site_icon.dark.url}" type="${site_icon.dark.type}" media="(prefers-color-scheme: dark)">
% endif
% else:
<link rel="icon" href="${static_url('icon.svg')}" type="image/svg+xml">
% endif
<link rel="stylesheet" href="${static_url('sign-in.css')}">
% if brand_url:
<link rel="stylesheet" href="${brand_url}">
% endif
${self.styles()}\
<script src="${static_url('page.js')}" defer></script>
</head>
<body data-page="${page}" data-layout="${self.attr.layout}"${html_attributes({"data-brand": brand_layout if self.attr.layout == "card" and brand_layout != "card" else None})}>
% if backdrop and self.attr.layout == "card":
<img class="backdrop" src="${backdrop.url}" alt="" loading="lazy">
% endif
${self.above()}\
<div class="frame">
<header>
% if logo:
${drawn(logo, "logo", alt=logo_name or service, width=logo.light.width, height=logo.light.height)}
% else:
% if site_icon:
${drawn(site_icon, "mark", alt="", width=32, height=32)}
% else:
<img class="mark" src="${static_url('icon.svg')}" alt="" width="32" height="32">
% endif
<span dir="auto">${service}</span>
% endif
</header>
${self.around()}\
<main id="main" tabindex="-1">
${self.heading(title)}
% if self.attr.asking and application_name and not is_own_area:
<p class="asking"><span class="initial" aria-hidden="true">${application_name[:1].upper()}</span>
## TRANSLATORS: Under the title of the page; the name of the application that asked for the sign-in.
<span>${rich(pgettext("page", "to continue to %(application)s"), application=strong(application_name))}</span></p>
% endif
${form.summary()}\
% if notice:
<p class="notice" role="status">${icon("info")} <span>${translated(notice)}</span></p>
% endif
${content}
</main>
</div>
<footer>
% if links:
<ul class="links">
% for label, url in links:
<li><a href="${url}">${translated(label)}</a></li>
% endfor
</ul>
% endif
% if self.attr.has_languages and len(languages) > 1:
${language_menu()}
% endif
% if logo and not service_name:
<p>${service}</p>
% endif
</footer>
</body>
</html>
<%def name="language_menu()">
<details class="menu">
<summary>${icon("globe")} <span class="unseen">${pgettext("page", "Language")}:</span> <span lang="${lang}">${dict(languages).get(lang, lang)}</span></summary>
<ul>
% for tag, endonym in languages:
<li><a href="${language_url(query, tag)}" lang="${tag}" hreflang="${tag}"${html_attributes({"aria-current": "true" if tag == lang else None})}>${endonym}</a></li>
% endfor
</ul>
</details>
</%def>

## An email. Mail programs know few rules of style sheets, so what matters is in attributes.
##   lang, dir, subject, title, preheader: str
##   blocks: Sequence[Block]       the parts of the message, without its title
##   branding: MailBranding        colours, radius
##   logo: MailLogo | None, logo_url: str | None
##   foot: list[str]               its last lines
<%
    light, dark = branding.light, branding.dark
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', Helvetica, Arial, sans-serif"
    breaks = "word-break: break-word; overflow-wrap: anywhere"
    text = f"margin: 0 0 16px; {breaks}; font-family: {font}; font-size: 16px; line-height: 24px; color: {light['text']}"
    muted = f"margin: 0 0 4px; {breaks}; font-family: {font}; font-size: 13px; line-height: 20px; color: {light['muted']}"
    heading = f"margin: 0 0 16px; {breaks}; font-family: {font}; font-size: 22px; line-height: 28px; font-weight: 600; color: {light['text']}"
    start = "right" if dir == "rtl" else "left"
%>\
<!doctype html>
<html lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${subject}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (max-width: 480px) {
.box { padding: 24px 20px !important; }
}
@media (prefers-color-scheme: dark) {
.page { background-color: ${dark["page"]} !important; }
.box { background-color: ${dark["surface"]} !important; border-color: ${dark["line"]} !important; }
.text { color: ${dark["text"]} !important; }
.muted { color: ${dark["muted"]} !important; }
.code { color: ${dark["text"]} !important; background-color: ${dark["tint"]} !important; }
.button { background-color: ${dark["accent"]} !important; }
.button a { color: ${dark["on-accent"]} !important; }
.link { color: ${dark["accent"]} !important; }
}
</style>
</head>
<body class="page" style="margin: 0; padding: 0; background-color: ${light['page']}">
<div style="display: none; max-height: 0; overflow: hidden">${preheader}</div>
<main>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${light['page']}" style="background-color: ${light['page']}">
<tr><td align="center" style="padding: 24px 12px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="width: 100%; max-width: 600px">
<tr><td class="box" align="${start}" bgcolor="${light['surface']}" style="padding: 32px; background-color: ${light['surface']}; border: 1px solid ${light['line']}; border-radius: ${branding.radius}px">
% if logo:
<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td bgcolor="${logo.plate}" style="padding: 8px; background-color: ${logo.plate}; border-radius: 8px"><img src="${logo_url}" width="${logo.width}" height="${logo.height}" alt="${branding.service_name}" style="display: block; border: 0"></td></tr></table>
<div style="height: 16px"></div>
% else:
<p class="text" style="${text}; font-weight: 600"><bdi>${branding.service_name}</bdi></p>
% endif
<h1 class="text" style="${heading}">${title}</h1>
% for block in blocks:
% if block.kind == "code":
<p class="code" style="margin: 0 0 16px; padding: 12px 16px; border-radius: 8px; background-color: ${light['tint']}; color: ${light['text']}; font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: 28px; line-height: 36px; letter-spacing: 2px"><bdi dir="ltr">${block.text}</bdi></p>
% elif block.kind == "link":
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin: 0 0 12px"><tr><td class="button" bgcolor="${light['accent']}" style="background-color: ${light['accent']}; border-radius: 8px"><a href="${block.url}" style="display: inline-block; padding: 12px 20px; font-family: ${font}; font-size: 16px; line-height: 24px; font-weight: 600; color: ${light['on-accent']}; text-decoration: none">${block.text.rstrip(":： ")}</a></td></tr></table>
<p class="muted" style="${muted}; margin: 0 0 16px; word-break: break-all"><a class="link" dir="ltr" href="${block.url}" style="color: ${light['accent']}">${block.url}</a></p>
% else:
<p class="text" style="${text}">${block.text}</p>
% endif
% endfor
</td></tr>
<tr><td align="${start}" style="padding: 16px 32px">
% for line in foot:
<p class="muted" style="${muted}">${line}</p>
% endfor
</td></tr>
</table>
</td></tr>
</table>
</main>
</body>
</html>

## Parts of forms: the form of a step, a field with its label and problems, the list of problems.

## With `cancels_below`, the button that cancels comes after the other identity providers.
<%def name="step(enctype=None, cancels_below=False)">
<form id="step" method="post"${html_attributes({"action": action, "enctype": enctype})}>
% for key, value in hidden:
<input type="hidden" name="${key}" value="${value}">
% endfor
${caller.body()}
% if cancellable and not cancels_below:
${cancel()}
% endif
</form>
</%def>

<%def name="cancel(form=None)">
<button data-kind="quiet" name="decision" value="cancel" formnovalidate${html_attributes({"form": form})}>\
% if application_name and not is_own_area:
${rich(pgettext("page", "Cancel and return to %(application)s"), application=isolated(application_name))}\
% else:
${pgettext("page", "Cancel")}\
% endif
</button>
</%def>

## An input with its label, its problems and its hint. With `reveal`, a button shows what is typed.
<%def name="field(name, label, hint=None, reveal=False, **attributes)">
<%
    labels[name] = label
    attributes.update(input_attributes(name, hint, problems, retry_seconds))
%>\
<div class="field">
<label for="${name}">${label}</label>
% if reveal:
<div class="reveal">
<input id="${name}" name="${name}"${html_attributes(attributes)}>
<button type="button" hidden aria-label="${pgettext('page', 'Show password')}" aria-pressed="false" aria-controls="${name}">${icon("eye")}${icon("eye-off")}</button>
</div>
% else:
<input id="${name}" name="${name}"${html_attributes(attributes)}>
% endif
${beneath(name, hint)}
</div>
</%def>

## What stands beneath an input: what is wrong with it, and what it is for.
<%def name="beneath(name, hint)">
<% mistakes = problems_of(problems, name) %>\
% if mistakes:
<div class="problem" id="${name}-problem">
% for text in mistakes:
<p>${icon("circle-alert")} ${translated(text)}</p>
% endfor
</div>
% endif
% if hint:
<p class="hint" id="${name}-hint">${hint}</p>
% endif
</%def>

## A code, which is spaced so that it can be compared; spaces may be typed.
<%def name="code_field(name, label, hint, value='', may_focus=True, autocomplete='one-time-code', inputmode='numeric', autocapitalize='none')">
<% has_focus = may_focus and not problems and retry_seconds is None %>\
${field(name, label, hint=hint, type="text", value=value, autocomplete=autocomplete, inputmode=inputmode,
    autocapitalize=autocapitalize, spellcheck="false", enterkeyhint="done", dir="ltr", required=True,
    autofocus=has_focus, **{"class": "spaced"})}
</%def>

## Requests another code; page.js counts down the seconds until that is possible.
<%def name="resend(wait_seconds)">
<button data-kind="quiet" name="decision" value="resend" formnovalidate${html_attributes({"data-wait": wait_seconds or None})}>${pgettext("verify-email", "Send a new code")}</button>
</%def>

## A text to be typed or pasted elsewhere, with a button that copies it.
<%def name="copied(value, id)">
<div class="copied">
<code id="${id}" dir="ltr">${value}</code>
<button type="button" hidden data-copy="${id}" aria-label="${pgettext('page', 'Copy')}">${icon("copy")}${icon("check")}</button>
<span class="unseen" role="status" data-done="${pgettext('page', 'Copied')}"></span>
</div>
</%def>

## What support needs to find a failure: the request's id and its time.
<%def name="for_support()">
<div class="support">
<p>${pgettext("error", "If you contact support, give this request ID and time:")}</p>
${copied(request_id, "request-id")}
<p>${moment(now)}</p>
</div>
</%def>

## The user who is asked, and a link for another one.
<%def name="whose(account, back_url)">
<div class="account">
${person(account["display_name"], account["login_name"])}
<a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a>
</div>
</%def>

## What an application may do.
<%def name="scope_list(scopes)">
<ul class="scopes">
% for scope in scopes:
<li>${icon(scope["icon"])} <span>${translated(scope["text"])}</span></li>
% endfor
</ul>
</%def>

## The account that a step is about: shown, sent, and seen by password managers.
##   back_url: str | None    where another one is entered
<%def name="account_field(value, back_url=None)">
<div class="account-row">
${field("loginName", pgettext("page", "Account"), type="text", value=value, autocomplete="username", readonly=True, dir="auto")}
% if web_link(back_url):
<a href="${web_link(back_url)}">${pgettext("password", "Not you?")}</a>
% endif
</div>
</%def>

<%def name="password_field(name, label, autocomplete, **attributes)">
${field(name, label, reveal=True, type="password", autocomplete=autocomplete, autocapitalize="none", spellcheck="false", dir="auto", **attributes)}
</%def>

## A new password, and what it needs; the browser itself says whether that is met, as far as it can
## tell, and page.js says so of each rule. What is typed may still be refused.
##   policy: dict    {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
<%def name="new_password_field(policy, autofocus)">
<%
    rules = f"minlength: {policy['minimum']}; maxlength: {policy['maximum']};"
    rules += "".join(f" required: {demand.name};" for demand in policy["demands"])
    kinds = {}
    if policy["demands"]:
        needed = ", ".join(Markup(translated(demand.hint)).striptags() for demand in policy["demands"])
        kinds["title"] = f"{pgettext('change-password', 'The new password needs:')} {needed}"
        kinds["pattern"] = "".join(f"(?=.*{demand.pattern})" for demand in policy["demands"]) + ".*"
%>\
${password_field("newPassword", pgettext("change-password", "New password"), "new-password",
    minlength=policy["minimum"], passwordrules=rules, enterkeyhint="done", required=True,
    autofocus=autofocus, **kinds)}
<div class="policy">
## One line in the place of another: a button that moved would not be pressed.
<p class="verdict" role="status">
<span class="needed" id="policy">${pgettext("change-password", "The new password needs:")}</span>
<strong class="met">${pgettext("change-password", "The new password meets all of these.")}</strong>
<strong class="unmet">${pgettext("change-password", "The new password doesn't meet all of these yet.")}</strong>
</p>
<ul aria-labelledby="policy">
<li data-rule=".{${policy['minimum']}}">${icon("check")} ${npgettext("change-password", "at least %(n)s character", "at least %(n)s characters", policy["minimum"])}</li>
% for demand in policy["demands"]:
<li data-rule="${demand.pattern}">${icon("check")} ${translated(demand.hint)}</li>
% endfor
</ul>
<p>${pgettext("change-password", "Common passwords and your own name are refused.")}
% if policy["is_strength_rated"]:
${pgettext("change-password", "Several unrelated words make a good password.")}
% endif
</p>
</div>
</%def>

## What is wrong, unless it is shown at the one field that it belongs to. The focus lands here without
## a script, so that a screen reader says it.
<%def name="summary()">
<%
    is_at_field = only_field(problems, retry_seconds) in labels
    others = [problem for problem in problems if problem["field"] not in labels]
    wrong = {problem["field"] for problem in problems}
    fields = [name for name in labels if name in wrong]  # as they come on the page
%>\
% if (problems or retry_seconds is not None) and not is_at_field:
<div class="summary" role="alert" tabindex="-1" autofocus>
${icon("circle-alert")}
<div>
% if retry_seconds is not None:
<p>${npgettext("page", "Too many attempts. Try again in %(n)s second.", "Too many attempts. Try again in %(n)s seconds.", retry_seconds)}</p>
% endif
% for problem in others:
<p>${translated(problem["text"])}</p>
% endfor
% if fields:
<h2>${npgettext("page", "Fix this field", "Fix these %(n)s fields", len(fields))}</h2>
<ul>
% for name in fields:
<li><a href="#${name}">${labels[name]}</a></li>
% endfor
</ul>
% endif
</div>
</div>
% endif
</%def>

## The other identity providers that the user may sign in with; a separate form, above or below
## that of the step. Below it, it brings the button that cancels the step.
##   providers: ProviderButtons | None   url: where it posts to; first: (id, name, icon) of each;
##                                       further: (id, name) of each; is_above
<%def name="other_providers(providers)">
% if providers and web_link(providers.url):
<form id="providers" method="post" action="${web_link(providers.url)}">
% if not providers.is_above:
<p class="or">${pgettext("page", "or")}</p>
% endif
% for key, value in hidden:
<input type="hidden" name="${key}" value="${value}">
% endfor
% for provider in providers.first:
${provider_button(*provider)}
% endfor
% if providers.further:
<details>
<summary>${pgettext("providers", "More sign-in options")}</summary>
% for provider in providers.further:
${provider_button(*provider)}
% endfor
</details>
% endif
% if providers.is_above:
<p class="or">${pgettext("page", "or")}</p>
% endif
</form>
% if cancellable and not providers.is_above:
${cancel("step")}
% endif
% endif
</%def>

<%def name="provider_button(provider_id, name, icon_name=None)">
## TRANSLATORS: A button; the name is that of another identity provider.
<button name="idp" value="${provider_id}">${icon(icon_name) if icon_name else ""} <span>${rich(pgettext("providers", "Continue with %(name)s"), name=isolated(name))}</span></button>
</%def>

<%def name="person(display_name, login_name)">
<span class="initial" aria-hidden="true">${display_name[:1].upper()}</span>
<span class="person">
<strong dir="auto">${display_name}</strong>
<span dir="auto">${login_name}</span>
</span>
</%def>

## Codes that are shown once: to be printed, copied or kept as a file.
<%def name="code_list(codes, file_url)">
<pre class="codes" dir="ltr">${"\n".join(codes)}</pre>
<p><a class="button" href="${file_url}" download="recovery-codes.txt">${icon("download")} <span>${pgettext("factor", "Download")}</span></a></p>
</%def>

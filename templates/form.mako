## Parts of forms: the form of a step, a field with its label and problems, the list of problems.

<%def name="step(enctype=None)">
<form id="step" method="post"${html_attributes({"action": action, "enctype": enctype})}>
% for key, value in hidden:
<input type="hidden" name="${key}" value="${value}">
% endfor
${caller.body()}
% if cancellable:
<button class="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
% endif
</form>
</%def>

<%def name="field(name, label, hint=None, **attributes)">
<%
    mistakes = problems_of(problems, name)
    described = [f"{name}-hint"] * bool(hint) + [f"{name}-problem"] * bool(mistakes)
    if mistakes:
        attributes["aria-invalid"] = "true"
    if described:
        attributes["aria-describedby"] = " ".join(described)
%>
<div class="field">
<label for="${name}">${label}</label>
% if hint:
<p class="hint" id="${name}-hint">${hint}</p>
% endif
% if mistakes:
<div class="problem" id="${name}-problem">
% for text in mistakes:
<p>${said(text)}</p>
% endfor
</div>
% endif
<input id="${name}" name="${name}"${html_attributes(attributes)}>
</div>
</%def>

## The name that a password belongs to: shown, sent, and seen by password managers.
<%def name="login_name_field(value)">
${field("loginName", pgettext("page", "Login name"), type="text", value=value, autocomplete="username", readonly=True, dir="auto")}
</%def>

<%def name="password_field(name, label, autocomplete, **attributes)">
<% show = {"data-show": pgettext("page", "Show password")} %>
${field(name, label, type="password", autocomplete=autocomplete, autocapitalize="none", spellcheck="false", dir="auto", **show, **attributes)}
</%def>

## A new password, and before it what it needs; the browser itself says whether that is met, as far
## as it can tell. What is typed may still be refused.
##   policy: dict    {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
<%def name="new_password_field(policy, autofocus)">
<%
    rules = f"minlength: {policy['minimum']}; maxlength: {policy['maximum']};"
    rules += "".join(f" required: {demand.name};" for demand in policy["demands"])
    kinds = {}
    if policy["demands"]:
        needed = ", ".join(Markup(said(demand.hint)).striptags() for demand in policy["demands"])
        kinds["title"] = f"{pgettext('change-password', 'The new password needs:')} {needed}"
        kinds["pattern"] = "".join(f"(?=.*{demand.pattern})" for demand in policy["demands"]) + ".*"
%>\
<div class="policy">
## One line in the place of another: a button that moved would not be pressed.
<p class="verdict" role="status">
<span class="needed" id="policy">${pgettext("change-password", "The new password needs:")}</span>
<strong class="met">${pgettext("change-password", "What you typed has all of this.")}</strong>
<strong class="unmet">${pgettext("change-password", "What you typed does not have all of this yet.")}</strong>
</p>
<ul aria-labelledby="policy">
<li>${npgettext("change-password", "at least %(n)s character", "at least %(n)s characters", policy["minimum"])}</li>
% for demand in policy["demands"]:
<li>${said(demand.hint)}</li>
% endfor
</ul>
<p>${pgettext("change-password", "Common passwords and your own name are refused.")}
% if policy["is_strength_rated"]:
${pgettext("change-password", "Several unrelated words make a good password.")}
% endif
</p>
</div>
${password_field("newPassword", pgettext("change-password", "New password"), "new-password",
    minlength=policy["minimum"], passwordrules=rules, enterkeyhint="done", required=True,
    autofocus=autofocus, **kinds)}
</%def>

## The focus lands here without a script, so that a screen reader says what is wrong.
<%def name="summary()">
% if problems or retry_seconds is not None:
<div class="summary" role="alert" tabindex="-1" autofocus>
<h2>${pgettext("page", "There is a problem")}</h2>
<ul>
% if retry_seconds is not None:
<li>${npgettext("page", "Too many tries. Try again in %(n)s second.", "Too many tries. Try again in %(n)s seconds.", retry_seconds)}</li>
% endif
% for problem in problems:
% if problem["field"]:
<li><a href="#${problem['field']}">\
% if problem.get("label"):
${said(problem["label"])}: \
% endif
${said(problem["text"])}</a></li>
% else:
<li>${said(problem["text"])}</li>
% endif
% endfor
</ul>
</div>
% endif
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
<p><a href="${file_url}" download="recovery-codes.txt">${pgettext("factor", "Save them as a file")}</a></p>
</%def>

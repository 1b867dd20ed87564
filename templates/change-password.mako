## A new password, because the person wants one or must have one (say why in `notice`).
##   login_name: str
##   current_required: bool    whether the present password is asked for
##   policy: dict              {minimum, maximum: int, uppercase, lowercase, number, symbol: bool}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("change-password", "Choose a new password")}</%def>\
<%
    classes = {"uppercase": "upper", "lowercase": "lower", "number": "digit", "symbol": "special"}
    required = "".join(f" required: {name};" for rule, name in classes.items() if policy[rule])
    rules = f"minlength: {policy['minimum']}; maxlength: {policy['maximum']};{required}"
    may_focus = not problems and retry_seconds is None
%>\
<%form:step>
${form.login_name_field(login_name)}
% if current_required:
${form.password_field("currentPassword", pgettext("change-password", "Current password"),
    "current-password", required=True, autofocus=may_focus)}
% endif
<div class="policy">
<p id="policy">${pgettext("change-password", "The new password needs:")}</p>
<ul aria-labelledby="policy">
<li>${npgettext("change-password", "at least %(n)s character", "at least %(n)s characters", policy["minimum"])}</li>
% if policy["uppercase"]:
<li>${pgettext("change-password", "an upper-case letter")}</li>
% endif
% if policy["lowercase"]:
<li>${pgettext("change-password", "a lower-case letter")}</li>
% endif
% if policy["number"]:
<li>${pgettext("change-password", "a digit")}</li>
% endif
% if policy["symbol"]:
<li>${pgettext("change-password", "a punctuation mark or another symbol")}</li>
% endif
</ul>
<p>${pgettext("change-password", "Common passwords and your own name are refused.")}</p>
</div>
${form.password_field("newPassword", pgettext("change-password", "New password"), "new-password",
    minlength=policy["minimum"], passwordrules=rules, enterkeyhint="done", required=True,
    autofocus=may_focus and not current_required)}
<button>${pgettext("change-password", "Save the new password")}</button>
</%form:step>

## A new password, because the person wants one or must have one (say why in `notice`).
##   login_name: str
##   current_required: bool    whether the present password is asked for
##   policy: dict              {minimum, maximum: int}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("change-password", "Choose a new password")}</%def>\
<%
    rules = f"minlength: {policy['minimum']}; maxlength: {policy['maximum']};"
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
</ul>
<p>${pgettext("change-password", "Common passwords and your own name are refused.")}</p>
</div>
${form.password_field("newPassword", pgettext("change-password", "New password"), "new-password",
    minlength=policy["minimum"], passwordrules=rules, enterkeyhint="done", required=True,
    autofocus=may_focus and not current_required)}
<button>${pgettext("change-password", "Save the new password")}</button>
</%form:step>

## A new password, because the person wants one or must have one (say why in `notice`).
##   login_name: str
##   current_required: bool    whether the present password is asked for
##   policy: dict              {minimum, maximum: int, demands: list[Demand]}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("change-password", "Choose a new password")}</%def>\
<% may_focus = not problems and retry_seconds is None %>\
<%form:step>
${form.login_name_field(login_name)}
% if current_required:
${form.password_field("currentPassword", pgettext("change-password", "Current password"),
    "current-password", required=True, autofocus=may_focus)}
% endif
${form.new_password_field(policy, autofocus=may_focus and not current_required)}
<button>${pgettext("change-password", "Save the new password")}</button>
</%form:step>

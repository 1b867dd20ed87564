## A new password, because the person must have one (say why in `notice`).
##   login_name: str
##   policy: dict    {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
<%inherit file="page.mako"/>\
<%! asking = True %>\
<%namespace name="form" file="form.mako"/>\
<%def name="title()">${pgettext("change-password", "Choose a new password")}</%def>\
<% may_focus = not problems and retry_seconds is None %>\
<%form:step>
${form.account_field(login_name)}
${form.new_password_field(policy, autofocus=may_focus)}
<button data-kind="primary">${pgettext("change-password", "Save the new password")}</button>
</%form:step>

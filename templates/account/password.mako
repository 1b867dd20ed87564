## Another password for somebody's own account.
##   login_name: str
##   has_password: bool        whether there is one now, which is asked for
##   policy: dict              {minimum, maximum: int, demands: list[Demand], is_strength_rated: bool}
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("change-password", "Choose a new password")}</%def>\
<% may_focus = not problems and retry_seconds is None %>\
<p>${pgettext("account", "You'll be signed out everywhere else.")}</p>
<%form:step>
${form.account_field(login_name)}
% if has_password:
${form.password_field("currentPassword", pgettext("change-password", "Current password"),
    "current-password", required=True, autofocus=may_focus)}
% endif
${form.new_password_field(policy, autofocus=may_focus and not has_password)}
<div class="row">
<button data-kind="primary">${pgettext("change-password", "Save the new password")}</button>
<button data-kind="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
</div>
</%form:step>

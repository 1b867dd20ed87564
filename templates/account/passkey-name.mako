## Another name for a passkey.
##   entered: str      its present name
##   maximum: int      how long a name may be
<%inherit file="frame.mako"/>\
<%namespace name="form" file="/form.mako"/>\
<%def name="title()">${pgettext("passkey", "Rename the passkey")}</%def>\
<%form:step>
${form.field("name", pgettext("passkey", "Name of the passkey"), type="text", value=entered, maxlength=maximum,
    required=True, autocomplete="off", dir="auto", autofocus=not problems)}
<div class="row">
<button data-kind="primary">${pgettext("console", "Save")}</button>
<button data-kind="quiet" name="decision" value="cancel" formnovalidate>${pgettext("page", "Cancel")}</button>
</div>
</%form:step>

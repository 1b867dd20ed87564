"""The base of every HTML page: language, security headers, cookies, and errors as pages."""

from __future__ import annotations

import re
from datetime import tzinfo
from typing import Any, Final, NoReturn
from urllib.parse import urlsplit

from msgspec import structs
from tornado.web import HTTPError

from handlers.http import browser, hosts, params
from handlers.http.base import Handler, ResponseSent
from handlers.http.hosts import WrongHost
from handlers.http.protocol_errors import as_oauth_error
from handlers.pages import content_policy, error_texts, rendering
from handlers.pages.page_settings import template_values
from idp.foundation import i18n, logs, tracing
from idp.foundation.i18n import Bundle, Message
from idp.foundation.localization import local_time
from idp.identity.sessions import browsers, user_agents
from idp.identity.sessions.browsers import Cookie
from idp.limits.admission import PAGES
from idp.oauth.endpoints import sealed_requests
from idp.oauth.errors import InvalidRequest, UnusableRequest
from idp.oauth.params import Params
from idp.oauth.refusals import explain
from idp.oauth.sign_in import first_party_areas, restart_link
from idp.oauth.sign_in.restart_link import Continuation
from idp.policies import page_settings
from idp.policies.page_settings import PageSettings
from idp.records import APPLICATIONS, Application, Browser

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,200}")
# The pages' script sets it, so it has no prefix such as `__Host-`, which requires https.
TIME_ZONE_COOKIE: Final = "idp_tz"

_log = logs.logger(__name__)


class ForeignForm(HTTPError):
    """Raised for a form that was made for another browser or another page, or was sent by another
    site."""

    def __init__(self, cause: str) -> None:
        super().__init__(403, cause)


class PageHandler(Handler):
    """The base of the pages that a person opens in a browser. Responses are HTML by default."""

    group = PAGES
    language: str | None = None
    ui_locales: str | None = None
    zoneinfo: str | None = None
    max_form_fields = params.MAX_FIELDS
    _client: Application | None = None
    page_settings: PageSettings | None = None
    _texts: Bundle | None = None

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self._headers["Content-Type"] = "text/html; charset=utf-8"
        self._headers["Cache-Control"] = "no-store"
        self._headers["X-Frame-Options"] = "DENY"
        self._headers["Cross-Origin-Opener-Policy"] = "same-origin"
        self._headers["Content-Security-Policy"] = content_policy.of_page(may_leave=False)

    def let_forms_leave(self) -> None:
        """Sets the Content-Security-Policy of a page whose forms may be answered by a redirect to
        an application, which may forward its user to any address."""
        self.set_header("Content-Security-Policy", content_policy.of_page(may_leave=True))

    def allow_frames(self, *uris: str) -> None:
        """Allows the page to show these addresses in frames; only their origins are allowed."""
        policy = content_policy.with_frames(self._headers["Content-Security-Policy"], uris)
        self.set_header("Content-Security-Policy", policy)

    # The person's language

    def bundle(self) -> Bundle:
        """Returns the page's texts in the language that is negotiated with the browser."""
        tag, texts = self._tag(), self._texts
        return texts if texts is not None and texts.tag == tag else i18n.load(tag)

    def _tag(self) -> str:
        config, settings = self.service.config, self.page_settings
        return i18n.negotiate(
            self._chosen_language() or self.language,
            self.ui_locales,
            self.request.headers.get("Accept-Language"),
            settings.default_language if settings else config.default_language,
            self._offered_languages(),
            self.get_cookie(browser.cookie_name(config, "language")),
        )

    def _offered_languages(self) -> tuple[str, ...]:
        languages = self.page_settings.languages if self.page_settings else None
        return i18n.selectable(languages, has_pseudo_locale=self.service.config.is_loopback)

    def _chosen_language(self) -> str | None:
        """Returns the language that was chosen with the language switcher, from the address."""
        try:
            return self.offered_language(self.query_params().get("lang"))
        except InvalidRequest:
            return None

    def offered_language(self, tag: str | None) -> str | None:
        """Returns the offered language that is nearest to the language tag, or None if there is
        none."""
        return i18n.lookup(tag or "", self._offered_languages())

    def remember_language(self) -> None:
        """Stores the language that the address requests in a cookie, unless the request comes from
        a page of another site."""
        config, tag = self.service.config, self._chosen_language()
        if tag is not None and not browser.is_cross_site(config, self.request):
            name = browser.cookie_name(config, "language")
            self.add_header("Set-Cookie", browser.cookie_header(config, name, tag))

    def time_zone(self) -> tzinfo:
        """Returns the time zone of the user's profile, or else of the browser, as the pages'
        script has stored it, or else the default."""
        return local_time.zone(
            self.zoneinfo, self.get_cookie(TIME_ZONE_COOKIE), self.service.config.default_time_zone
        )

    def requested_id(self, name: str) -> str | None:
        """Returns the id in the query parameter `name`; None if it is missing or cannot be an
        id."""
        value = self.query_params().get(name) or ""
        return value if _ID.fullmatch(value) else None

    def requested_pending_id(self, name: str) -> str | None:
        """Returns the query parameter `name` if it identifies a pending request, else None. It
        is the request's id, or the request itself, sealed
        (`idp.oauth.endpoints.sealed_requests`)."""
        value = self.query_params().get(name) or ""
        return value if sealed_requests.is_sealed(value) else self.requested_id(name)

    # The browser's cookie

    async def find_browser(self) -> Browser | None:
        """Returns the browser's record, or None without a valid cookie. The names of the browser
        and its system in it are read from the headers of this request."""
        return self.with_names(await browsers.find(self.service, self.browser_cookie))

    def with_names(self, browser_record: Browser | None) -> Browser | None:
        """Returns the browser's record with the names of the browser and its system as stated in
        the headers of this request; of a form, also with the secret that it may give."""
        if browser_record is None:
            return None
        if self.request.method == "POST":
            browser_record = browsers.sending(browser_record, self._next_secret())
        kind = user_agents.read(self.request.headers.get("User-Agent"))
        return structs.replace(browser_record, browser=kind.browser, system=kind.system)

    def _next_secret(self) -> str:
        key, cookie = self.service.master_key, self.browser_cookie or ""
        return browsers.next_secret(key, cookie, self.request.uri or "", self.body)

    async def repeat_cookie(self) -> Cookie | None:
        """Gives the browser the cookie again that this form has given it before, and returns it;
        None if it has given none."""
        cookie = await browsers.repeated(self.service, self.browser_cookie, self._next_secret())
        self.set_browser_cookie(cookie)
        return cookie

    def set_browser_cookie(self, cookie: Cookie | None) -> None:
        """Adds a Set-Cookie header with the browser's new cookie. Has no effect if `cookie` is
        None."""
        if cookie is not None:
            header = browser.cookie_header(self.service.config, self._cookie_name, cookie.value)
            self.add_header("Set-Cookie", header)

    @property
    def browser_cookie(self) -> str | None:
        """The value of the browser's cookie as it was sent."""
        return self.get_cookie(self._cookie_name)

    @property
    def _cookie_name(self) -> str:
        return browser.cookie_name(self.service.config)

    def page_form(self, subject_id: str, browser_record: Browser) -> Params:
        """Returns the submitted fields of a form whose token was made for this browser and subject
        (`form_token`): the guard against cross-site requests (CSRF). Raises ForeignForm,
        InvalidRequest."""
        form = self._own_form()
        token = form.get("token") or ""
        if not browsers.is_form_token(self.service.master_key, browser_record, subject_id, token):
            raise ForeignForm("the form was made for another browser")
        return form

    def _own_form(self) -> Params:
        if browser.is_cross_site(self.service.config, self.request):
            raise ForeignForm("the form was sent by another site")
        return self.read_form()

    def read_form(self) -> Params:
        """Returns the submitted fields without checking their token. Raises InvalidRequest."""
        content_type = self.request.headers.get("Content-Type")
        return params.parse_form(content_type, self.body, self.max_form_fields)

    def form_token(self, subject_id: str, browser_record: Browser) -> list[tuple[str, str]]:
        """Returns the hidden inputs of a form: a token bound to the browser and to `subject_id`,
        the id of the record that the form is about, such as a sign-in."""
        return [
            ("token", browsers.form_token(self.service.master_key, browser_record, subject_id))
        ]

    # Pages

    def page(self, name: str, *, status: int = 200, **values: object) -> None:
        """Sends the page that the template `name` renders; `values` are those that the template
        requires."""
        bundle = self.bundle()
        self.set_status(status)
        self.set_header("Content-Language", bundle.tag)
        # The language depends on both headers.
        self.set_header("Vary", "Accept-Language, Cookie")
        self.remember_language()
        common = {
            "query": self._own_query(),
            "request_id": self.request_id,
            "now": self.service.clock.now(),
            "time_zone": self.time_zone(),
            **self._page_settings_values(bundle),
            **self._client_values(),
        }
        self.finish(rendering.render(name, bundle, **(common | values)))

    def _own_query(self) -> list[tuple[str, str]]:
        """Returns the parameters of this address, which are preserved when the language
        changes."""
        try:
            return [pair for pair in self.query_params().pairs() if pair[0] != "lang"]
        except InvalidRequest:
            return []

    def show_client(self, client: Application | None) -> None:
        """Sets the application whose name the page displays."""
        self._client = client
        if client is not None:
            logs.bind(client_id=client.id)
            tracing.record_client(client.id)

    async def show_requested_client(self) -> None:
        """Sets the page's application to the one that the query parameter `client_id` names, if
        any."""
        await self.show_client_of(self.requested_id("client_id"))

    async def show_client_of(self, client_id: str | None) -> None:
        """Sets the page's application to the one with this id, if it is active, and applies the
        page settings of its organization; without one, those of the installation."""
        client = await self.service.store.get(APPLICATIONS, client_id) if client_id else None
        client = client if client and client.state == "active" else None
        self.show_client(client)
        await self.show_organization(client.org_id if client else None)

    async def show_start(self) -> Continuation | None:
        """Reads the restart link in the address, and sets the page's application, organization and
        language to those of the sign-in that it would start again.

        Works also when the sign-in has expired, because the link itself has the data. Returns
        these data, or None without a valid link.
        """
        start = self.restart()
        if start is None:
            await self.show_organization(None)
        else:
            self.language = self.language or start.language
            await self.show_client_of(start.client_id)
            await self.show_organization(start.org_id)
        return start

    def restart(self) -> Continuation | None:
        """Returns the content of the restart link in the address; None without a valid one."""
        try:
            text = self.query_params().if_once(restart_link.PARAMETER)
        except InvalidRequest:
            return None
        return restart_link.read(self.service, text)

    def show_expired(
        self,
        *,
        sentence: Message,
        status: int = 410,
        again_url: str | None = None,
        **values: object,
    ) -> None:
        """Answers that the request that the address names has ended or expired, as `sentence`
        states; `again_url` is the link to start again."""
        defaults = {"sentence": sentence, "again_url": again_url, "has_cookie": True}
        self.page("expired", status=status, **(defaults | values))

    @property
    def has_cookie(self) -> bool:
        """Whether the browser sent the cookie that identifies its record."""
        return self.browser_cookie is not None

    async def show_organization(self, org_id: str | None) -> None:
        """Applies the page settings and texts of the organization, or with None those of the
        installation."""
        self.page_settings = await page_settings.find(self.service, org_id)
        self._texts = await page_settings.bundle(self.service, org_id, self._tag())

    def _client_values(self) -> dict[str, object]:
        default_url = (
            self.page_settings.login.default_redirect_uri or None if self.page_settings else None
        )
        if self._client is None:
            return {"application_url": default_url}
        return {
            "application_name": self.bundle().text(first_party_areas.name_of(self._client)),
            "application_url": home_of(self._client) or default_url,
            "is_own_area": first_party_areas.is_area(self._client),
        }

    def _page_settings_values(self, bundle: Bundle) -> dict[str, object]:
        return template_values(self.page_settings, bundle.tag) if self.page_settings else {}

    def redirect_303(self, location: str) -> None:
        """Redirects with status 303, so that the browser continues with a GET after any method."""
        self.set_status(303)
        self.set_header("Location", location)
        self.finish()

    def redirect_instead(self, location: str) -> NoReturn:
        """Redirects and raises ResponseSent, for a page that cannot be displayed now."""
        self.redirect_303(location)
        raise ResponseSent

    # Errors

    async def explain(self, refusal: UnusableRequest) -> None:
        """Sends the error page for a request that must not be answered by a redirect to the
        client, and logs the cause.

        The page displays the cause only if `explain.may_explain` allows it.
        """
        _log.info(
            "refused",
            error=refusal.error_code,
            cause=refusal.description,
            client_id=refusal.client_id,
            sent=explain.sent(refusal),
            registered=list(refusal.registered),
        )
        client = None
        if refusal.client_id is not None:
            client = await self.service.store.get(APPLICATIONS, refusal.client_id)
        now, config = self.service.clock.now(), self.service.config
        is_explained = explain.may_explain(
            config, client, now, is_local_peer=hosts.is_local_peer(self.request)
        )
        explanation = explain.explanation(refusal) if is_explained else None
        self.page("explain", status=400, explanation=explanation)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        cause = kwargs.get("exc_info", (None, None))[1]
        if isinstance(cause, WrongHost):
            self._show_host_mismatch(cause)
            return
        error = as_oauth_error(cause)
        self.set_error_status(error)
        self.page(
            "error",
            status=error.status,
            **error_texts.values_of(error),
            **self.retry(error.status),
        )

    def retry(self, status: int) -> dict[str, object]:
        """Returns the template values with which the error page offers to repeat the request: its
        address, and a form where the address alone is not enough. Both are None if repeating is
        useless."""
        address = self.request.uri if self._can_retry(status) else None
        return {"retry_url": address, "retry_form": None}

    def _can_retry(self, status: int) -> bool:
        """Returns whether a repeated request may succeed; a malformed address never succeeds."""
        return status != 404 and not (status == 400 and self.request.method == "GET")

    def _show_host_mismatch(self, error: WrongHost) -> None:
        issuer = self.service.config.issuer
        self.page("host-mismatch", status=421, opened=error.requested_origin, issuer=issuer)


def home_of(client: Application) -> str | None:
    """Returns the page on which a person continues with an application: its home page, or else the
    origin of its first redirect URI; None without either."""
    if client.home_url is not None:
        return client.home_url
    parts = urlsplit(client.redirect_uris[0]) if client.redirect_uris else None
    if parts is None or parts.scheme not in ("http", "https"):
        return None
    return f"{parts.scheme}://{parts.netloc}/"

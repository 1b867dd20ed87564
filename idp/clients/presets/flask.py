"""Presets of applications with Flask."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import CLAIMS_IN_ID_TOKEN, EXACT_ISSUER, REFRESHING, Preset

_FLASK: Final = """\
# app.py: pip install flask authlib requests, then python app.py
# It reads from the environment:
#   SECRET_KEY     signs the session cookie: python -c "import secrets; print(secrets.token_hex())"
#   CLIENT_SECRET  the secret that was shown when the application was registered
import os
from urllib.parse import urlencode

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for
from markupsafe import escape

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
app.config["SESSION_COOKIE_SECURE"] = "<base>".startswith("https:")
oauth = OAuth(app)
oauth.register(
    "idp",
    client_id="<client_id>",
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url="<issuer>/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    user = session.get("user")
    if user is None:
        return '<a href="/auth/login">Sign in</a>'
    form = '<form method="post" action="/auth/logout"><input type=submit value="Sign out"></form>'
    return f"Hello {escape(user['name'])} {form}"


@app.get("/auth/login")
def login():
    return oauth.idp.authorize_redirect(url_for("callback", _external=True))


@app.get("/auth/callback")
def callback():
    token = oauth.idp.authorize_access_token()
    session["user"] = {"name": token["userinfo"]["name"], "id_token": token["id_token"]}
    return redirect("/")


@app.post("/auth/logout")
def logout():
    user = session.pop("user", None)
    if user is None:
        return redirect("/")
    # The session at the identity service ends, too, and the browser comes back.
    hint = {"id_token_hint": user["id_token"], "post_logout_redirect_uri": "<base>/"}
    endpoint = oauth.idp.load_server_metadata()["end_session_endpoint"]
    return redirect(f"{endpoint}?{urlencode(hint)}", 303)


if __name__ == "__main__":
    app.run(host="localhost", port=<port>)
"""

_FLASK_OIDC: Final = """\
# app.py: pip install flask-oidc, then python app.py
# It reads from the environment:
#   SECRET_KEY     signs the session cookie: python -c "import secrets; print(secrets.token_hex())"
#   CLIENT_SECRET  the secret that was shown when the application was registered
import os
from urllib.parse import urlencode

from flask import Flask, g, redirect, session
from flask_oidc import OpenIDConnect
from markupsafe import escape

app = Flask(__name__)
app.config["SECRET_KEY"] = os.environ["SECRET_KEY"]
app.config["SESSION_COOKIE_SAMESITE"] = "Lax"
app.config["SESSION_COOKIE_SECURE"] = "<base>".startswith("https:")
app.config["OIDC_OVERWRITE_REDIRECT_URI"] = "<base>/authorize"
app.config["OIDC_SCOPES"] = "openid profile email offline_access"
app.config["OIDC_CLIENT_SECRETS"] = {
    "web": {
        "issuer": "<issuer>",
        "client_id": "<client_id>",
        "client_secret": os.environ["CLIENT_SECRET"],
    }
}
oidc = OpenIDConnect(app)


@app.get("/")
def home():
    if not oidc.user_loggedin:
        return '<a href="/login">Sign in</a>'
    form = '<form method="post" action="/sign-out"><input type=submit value="Sign out"></form>'
    return f"Hello {escape(session['oidc_auth_profile']['name'])} {form}"


@app.get("/profile")
@oidc.require_login
def profile():
    # Before each request, the library replaces an access token that expires within a minute.
    return g._oidc_auth.userinfo(token=session["oidc_auth_token"])


@app.post("/sign-out")
def sign_out():
    token = session.pop("oidc_auth_token", None)
    session.clear()
    if token is None:
        return redirect("/")
    # The session at the identity service ends, too, and the browser comes back.
    hint = {"id_token_hint": token["id_token"]}
    hint["post_logout_redirect_uri"] = "<base>/"
    return redirect("<end_session>?" + urlencode(hint), 303)


if __name__ == "__main__":
    app.run(host="localhost", port=<port>)
"""

PRESETS: Final[dict[str, Preset]] = {
    "flask": Preset(
        title="Flask (Authlib)",
        kind="web",
        chosen=CLAIMS_IN_ID_TOKEN,
        redirect_uris=("{base}/auth/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="app.py",
        configuration=_FLASK,
    ),
    "flask-oidc": Preset(
        title="Flask (flask-oidc 2)",
        kind="web",
        pkce=False,  # it has no setting for it
        chosen=REFRESHING,
        redirect_uris=("{base}/authorize",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="app.py",
        configuration=_FLASK_OIDC,
    ),
}

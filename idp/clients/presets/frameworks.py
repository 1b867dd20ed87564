"""Presets of what web applications are written with."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import (
    CLAIMS_IN_ID_TOKEN,
    EXACT_ISSUER,
    SECRET_IN_FORM,
    Preset,
)
from idp.i18n import message

_FLASK: Final = """\
import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
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
    return f"Hello {user['name']}" if user else '<a href="/auth/login">Sign in</a>'


@app.get("/auth/login")
def login():
    return oauth.idp.authorize_redirect(url_for("callback", _external=True))


@app.get("/auth/callback")
def callback():
    session["user"] = oauth.idp.authorize_access_token()["userinfo"]
    return redirect("/")


if __name__ == "__main__":
    app.run(port=<port>)
"""

_DJANGO: Final = """\
import os

# urls.py: path("oidc/", include("mozilla_django_oidc.urls"))
# INSTALLED_APPS: "mozilla_django_oidc" after "django.contrib.auth"
AUTHENTICATION_BACKENDS = ["mozilla_django_oidc.auth.OIDCAuthenticationBackend"]
LOGIN_URL = "oidc_authentication_init"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

OIDC_RP_CLIENT_ID = "<client_id>"
OIDC_RP_CLIENT_SECRET = os.environ["CLIENT_SECRET"]
OIDC_RP_SCOPES = "openid profile email"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_OP_AUTHORIZATION_ENDPOINT = "<authorize>"
OIDC_OP_TOKEN_ENDPOINT = "<token>"
OIDC_OP_USER_ENDPOINT = "<userinfo>"
OIDC_OP_JWKS_ENDPOINT = "<keys>"
"""

_EXPRESS: Final = """\
const express = require('express')
const { auth, requiresAuth } = require('express-openid-connect')

const app = express()
app.use(auth({
  issuerBaseURL: '<issuer>',
  baseURL: '<base>',
  clientID: '<client_id>',
  clientSecret: process.env.CLIENT_SECRET,
  secret: process.env.SESSION_SECRET,
  authRequired: false,
  idpLogout: true,
  authorizationParams: { response_type: 'code', scope: 'openid profile email' },
  routes: { callback: '/callback', postLogoutRedirect: '<base>/' },
}))
app.get('/profile', requiresAuth(), (req, res) => res.json(req.oidc.user))
app.get('/', (req, res) => res.send(req.oidc.isAuthenticated()
  ? `Hello ${req.oidc.user.sub}` : '<a href="/login">Sign in</a>'))
app.listen(<port>)
"""

_NODE: Final = """\
import http from 'node:http'
import * as client from 'openid-client'

const issuer = new URL('<issuer>')
const callback = '<base>/callback'
const config = await client.discovery(
  issuer,
  '<client_id>',
  {},
  client.ClientSecretBasic(process.env.CLIENT_SECRET),
  // http is for an issuer on this machine alone
  issuer.protocol === 'http:' ? { execute: [client.allowInsecureRequests] } : undefined,
)
const waiting = new Map() // what a sign-in that was begun expects, by its state
const people = new Map() // who is signed in, by the cookie; keep both in your session store

http.createServer(async (req, res) => {
  const url = new URL(req.url, '<base>')
  const cookie = /(?:^|; )sid=([^;]+)/.exec(req.headers.cookie ?? '')?.[1]
  try {
    if (url.pathname === '/login') return redirect(res, await begin())
    if (url.pathname === '/callback') return await finish(url, res)
    const person = people.get(cookie)
    res.setHeader('Content-Type', 'text/html')
    res.end(person ? `Hello ${person.sub}` : '<a href="/login">Sign in</a>')
  } catch (error) {
    res.writeHead(400).end(error.message)
  }
}).listen(<port>)

async function begin() {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  waiting.set(expectedState, { pkceCodeVerifier, expectedState, idTokenExpected: true })
  return client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid profile email',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
}

async function finish(url, res) {
  const checks = waiting.get(url.searchParams.get('state'))
  waiting.delete(url.searchParams.get('state'))
  if (!checks) throw new Error('no sign-in was begun here')
  const tokens = await client.authorizationCodeGrant(config, url, checks)
  const sid = client.randomState()
  people.set(sid, tokens.claims())
  res.setHeader('Set-Cookie', `sid=${sid}; HttpOnly; SameSite=Lax; Path=/`)
  redirect(res, '/')
}

function redirect(res, to) {
  res.writeHead(303, { Location: String(to) }).end()
}
"""

_NEXT: Final = """\
import NextAuth from "next-auth"

// AUTH_SECRET and CLIENT_SECRET come from the environment.
// app/api/auth/[...nextauth]/route.ts: export const { GET, POST } = handlers
export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: "idp",
      name: "Single sign-on",
      type: "oidc",
      issuer: "<issuer>",
      clientId: "<client_id>",
      clientSecret: process.env.CLIENT_SECRET,
      checks: ["pkce", "state"],
    },
  ],
})
"""

_SPRING: Final = """\
# with spring-boot-starter-oauth2-client
spring:
  security:
    oauth2:
      client:
        registration:
          idp:
            client-id: "<client_id>"
            client-secret: "${CLIENT_SECRET}"
            scope: openid, profile, email
        provider:
          idp:
            issuer-uri: "<issuer>"
"""

_ASP: Final = """\
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "<issuer>";
        options.ClientId = "<client_id>";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.ResponseType = "code";
        options.UsePkce = true;
        options.Scope.Add("email");
        options.GetClaimsFromUserInfoEndpoint = true;
        options.MapInboundClaims = false;
        options.SaveTokens = true; // the hint for signing out
    });
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
    "django": Preset(
        title="Django (mozilla-django-oidc)",
        kind="web",
        chosen=SECRET_IN_FORM,
        redirect_uris=("{base}/oidc/callback/",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            message(
                "It has no discovery, so each address stands in its settings; and it expects HS256"
                " until it is told RS256.",
                context="presets",
            ),
            message("The callback's address ends in a slash.", context="presets"),
        ),
        file="settings.py",
        configuration=_DJANGO,
    ),
    "node": Preset(
        title="Node.js (openid-client 6)",
        kind="web",
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            EXACT_ISSUER,
            message(
                "Its own default is the secret in the form: the program says ClientSecretBasic.",
                context="presets",
            ),
        ),
        file="server.mjs",
        configuration=_NODE,
    ),
    "express": Preset(
        title="Express (express-openid-connect)",
        kind="web",
        chosen=CLAIMS_IN_ID_TOKEN,
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="server.js",
        configuration=_EXPRESS,
    ),
    "nextjs": Preset(
        title="Next.js (Auth.js)",
        kind="web",
        chosen=CLAIMS_IN_ID_TOKEN,
        redirect_uris=("{base}/api/auth/callback/idp",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="auth.ts",
        configuration=_NEXT,
    ),
    "spring": Preset(
        title="Spring Boot",
        kind="web",
        pkce=False,  # its properties can't switch it on for a client with a secret
        redirect_uris=("{base}/login/oauth2/code/idp",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="application.yaml",
        configuration=_SPRING,
    ),
    "aspnet": Preset(
        title="ASP.NET Core",
        kind="web",
        chosen=SECRET_IN_FORM,
        redirect_uris=("{base}/signin-oidc",),
        post_logout_redirect_uris=("{base}/signout-callback-oidc",),
        file="Program.cs",
        configuration=_ASP,
    ),
}

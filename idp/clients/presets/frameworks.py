"""Presets of the frameworks that web applications are written with, beside Flask and Django."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import (
    CLAIMS_IN_ID_TOKEN,
    EXACT_ISSUER,
    SECRET_IN_FORM,
    Preset,
)
from idp.foundation.i18n import message

_EXPRESS: Final = """\
// server.js: npm install express express-openid-connect, then node server.js
// It reads from the environment:
//   SESSION_SECRET  encrypts the session cookie: openssl rand -hex 32
//   CLIENT_SECRET   the secret that was shown when the application was registered
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
// server.mjs: npm install openid-client@6, then node server.mjs
// It reads from the environment:
//   CLIENT_SECRET  the secret that was shown when the application was registered
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

const isHttps = callback.startsWith('https:')
const prefix = isHttps ? '__Host-' : '' // no other host of the domain can set such a cookie
const BROWSER = { name: `${prefix}browser`, seconds: 600 }
const SESSION = { name: `${prefix}sid`, seconds: 8 * 3600 }
// In the memory of this process: with several processes, keep both in a store that they share.
const signIns = expiring(BROWSER.seconds) // by state: the browser and the expected values
const sessions = expiring(SESSION.seconds) // by the cookie: who is signed in
const signOut = '<form method="post" action="/logout"><input type=submit value="Sign out"></form>'

http.createServer(async (req, res) => {
  try {
    const url = new URL(req.url, '<base>')
    if (url.pathname === '/login') return await begin(req, res)
    if (url.pathname === '/callback') return await finish(url, req, res)
    if (url.pathname === '/logout' && req.method === 'POST') return leave(req, res)
    const person = sessions.get(cookie(req, SESSION))
    res.setHeader('Content-Type', 'text/html')
    res.end(person ? `Hello ${person.sub} ${signOut}` : '<a href="/login">Sign in</a>')
  } catch (error) {
    res.writeHead(400, { 'Content-Type': 'text/plain' }).end(error.message)
  }
}).listen(<port>)

async function begin(req, res) {
  const browser = cookie(req, BROWSER) ?? client.randomState()
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const checks = { pkceCodeVerifier, expectedState, idTokenExpected: true }
  signIns.set(expectedState, { browser, checks })
  redirect(res, BROWSER, browser, client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid profile email',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  }))
}

async function finish(url, req, res) {
  const state = url.searchParams.get('state')
  const signIn = signIns.get(state)
  // Otherwise a link could sign this browser in to the account of the link's author.
  if (!signIn || signIn.browser !== cookie(req, BROWSER)) {
    throw new Error('this browser has not begun this sign-in, or too long ago: begin at /login')
  }
  signIns.delete(state)
  const tokens = await client.authorizationCodeGrant(config, url, signIn.checks)
  const sid = client.randomState()
  sessions.set(sid, { sub: tokens.claims().sub, idToken: tokens.id_token })
  redirect(res, SESSION, sid, '/')
}

// Ends the session here, and sends the browser to where that of the identity service ends.
function leave(req, res) {
  const sid = cookie(req, SESSION)
  const person = sessions.get(sid)
  sessions.delete(sid)
  const hint = { id_token_hint: person?.idToken, post_logout_redirect_uri: '<base>/' }
  const to = person ? client.buildEndSessionUrl(config, hint) : '/'
  redirect(res, { ...SESSION, seconds: 0 }, '', to)
}

function cookie(req, { name }) {
  const pattern = new RegExp(`(?:^|; )${name}=([A-Za-z0-9_-]{43})(?:;|$)`)
  return pattern.exec(req.headers.cookie ?? '')?.[1]
}

function redirect(res, { name, seconds }, value, to) {
  const scope = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isHttps ? '; Secure' : ''}`
  res.setHeader('Set-Cookie', `${name}=${value}; ${scope}`)
  res.writeHead(303, { Location: String(to) }).end()
}

// A map whose entries expire; of more than `max` entries, the oldest are deleted.
function expiring(seconds, max = 100_000) {
  const entries = new Map()
  const isOver = (entry) => !entry || entry.endsAt <= Date.now()
  return {
    get: (id) => isOver(entries.get(id)) ? undefined : entries.get(id).value,
    delete: (id) => entries.delete(id),
    set(id, value) {
      entries.set(id, { value, endsAt: Date.now() + seconds * 1000 })
      for (const [oldest, entry] of entries) {
        if (!isOver(entry) && entries.size <= max) break
        entries.delete(oldest)
      }
    },
  }
}
"""

_NEXT: Final = """\
// auth.ts: npm install next-auth@beta
// It reads from the environment:
//   AUTH_SECRET    encrypts the session cookie: npx auth secret
//   CLIENT_SECRET  the secret that was shown when the application was registered
import NextAuth from "next-auth"

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
  callbacks: {
    jwt: ({ token, account }) => account ? { ...token, idToken: account.id_token } : token,
  },
  events: {
    // signOut() ends the session at the identity service, too. The ID token stays in the cookie.
    async signOut(message) {
      const hint = "token" in message ? message.token?.idToken : undefined
      if (hint) await fetch(`<end_session>?id_token_hint=${hint}`)
    },
  },
})
"""

_SPRING: Final = """\
# application.yaml, with spring-boot-starter-oauth2-client among the dependencies
# It reads CLIENT_SECRET, which was shown at the registration, from the environment.
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

# --- SecurityConfiguration.java, in the package of the application
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.oauth2.client.oidc.web.logout.OidcClientInitiatedLogoutSuccessHandler;
import org.springframework.security.oauth2.client.registration.ClientRegistrationRepository;
import org.springframework.security.web.SecurityFilterChain;

@Configuration
public class SecurityConfiguration {

    @Bean
    SecurityFilterChain security(HttpSecurity http, ClientRegistrationRepository clients)
            throws Exception {
        // A post to /logout ends the session at the identity service, too.
        var signOut = new OidcClientInitiatedLogoutSuccessHandler(clients);
        signOut.setPostLogoutRedirectUri("<base>/");
        return http
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .oauth2Login(Customizer.withDefaults())
                .logout(logout -> logout.logoutSuccessHandler(signOut))
                .build();
    }
}
"""  # noqa: E501 - the name of a class

_ASP: Final = """\
// Program.cs: dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect
// It reads CLIENT_SECRET, which was shown at the registration, from the environment.
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
    "node": Preset(
        title="Node.js (openid-client 6)",
        kind="web",
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            EXACT_ISSUER,
            message(
                "It sends the client secret in the POST body unless the program "
                "sets ClientSecretBasic.",
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
        notes=(EXACT_ISSUER,),
        file="auth.ts",
        configuration=_NEXT,
    ),
    "spring": Preset(
        title="Spring Boot",
        kind="web",
        pkce=False,  # Spring Boot 4 sends it, and version 3 can't without a bean
        redirect_uris=("{base}/login/oauth2/code/idp",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="application.yaml, SecurityConfiguration.java",
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

"""Presets of libraries that applications sign users in with, beside those of frameworks."""

from __future__ import annotations

from typing import Final

from idp.clients.presets.preset import EXACT_ISSUER, PUBLIC, REFRESHING, Preset
from idp.foundation.i18n import message

_PASSPORT: Final = """\
// server.js: npm install express express-session passport passport-openidconnect
// It reads from the environment:
//   SESSION_SECRET  signs the session cookie: openssl rand -hex 32
//   CLIENT_SECRET   the secret that was shown when the application was registered
const express = require('express')
const session = require('express-session')
const passport = require('passport')
const { Strategy } = require('passport-openidconnect')

passport.use(new Strategy({
  issuer: '<issuer>',
  authorizationURL: '<authorize>',
  tokenURL: '<token>',
  userInfoURL: '<userinfo>',
  clientID: '<client_id>',
  clientSecret: process.env.CLIENT_SECRET,
  callbackURL: '<base>/callback',
  scope: ['profile', 'email', 'offline_access'],
}, (issuer, profile, context, idToken, accessToken, refreshToken, params, done) =>
  done(null, {
    id: profile.id,
    idToken,
    ...tokensOf({ ...params, access_token: accessToken, refresh_token: refreshToken }),
  })))
passport.serializeUser((user, done) => done(null, user))
passport.deserializeUser((user, done) => done(null, user))

const app = express()
app.set('trust proxy', 1) // the server in front that ends TLS
app.use(session({
  secret: process.env.SESSION_SECRET,
  resave: false,
  saveUninitialized: false,
  cookie: { httpOnly: true, sameSite: 'lax', secure: <is_https> },
})) // in the memory of this process: name a `store` for several processes
app.use(passport.session())
app.get('/login', passport.authenticate('openidconnect'))
app.get('/callback', passport.authenticate('openidconnect', { successRedirect: '/' }))
app.get('/profile', async (req, res) => {
  const token = req.user && await freshAccessToken(req.user)
  if (!token) return res.redirect('/login')
  const headers = { Authorization: `Bearer ${token}` }
  res.json(await (await fetch('<userinfo>', { headers })).json())
})
app.post('/logout', (req, res, next) => {
  const hint = { id_token_hint: req.user?.idToken, post_logout_redirect_uri: '<base>/' }
  const to = req.user ? `<end_session>?${new URLSearchParams(hint)}` : '/'
  // The session here ends, and then that at the identity service.
  req.logout((error) => error ? next(error) : res.redirect(303, to))
})
app.get('/', (req, res) => res.send(req.user
  ? `Hello ${req.user.id} <form method="post" action="/logout"><input type=submit value="Sign out"></form>`
  : '<a href="/login">Sign in</a>'))
app.listen(<port>)

function tokensOf({ access_token, refresh_token, expires_in }) {
  const expiresAt = Date.now() + expires_in * 1000
  return { accessToken: access_token, refreshToken: refresh_token, expiresAt }
}

// The access token; a minute before it expires, a new one in its place in the session, or null if
// the refresh is refused.
async function freshAccessToken(user) {
  if (Date.now() < user.expiresAt - 60_000) return user.accessToken
  const response = await fetch('<token>', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: user.refreshToken,
      client_id: '<client_id>',
      client_secret: process.env.CLIENT_SECRET,
    }),
  })
  if (!response.ok) return null
  return Object.assign(user, tokensOf(await response.json())).accessToken
}
"""  # noqa: E501 - one line of HTML

_GO: Final = """\
// main.go: go mod init shop.example/app, go mod tidy, then go run .
// It reads CLIENT_SECRET, which was shown at the registration, from the environment.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const signOut = `<form method="post" action="/logout"><input type=submit value="Sign out"></form>`

// A person who is signed in: tokens gets a new access token a minute before the last one expires.
type person struct {
	name, idToken string
	tokens        oauth2.TokenSource
}

// In the memory of this process: with several processes, keep them in a store that they share.
var people sync.Map // by the cookie

func main() {
	provider, err := oidc.NewProvider(context.Background(), "<issuer>")
	if err != nil {
		log.Fatal(err)
	}
	verifier := provider.Verifier(&oidc.Config{ClientID: "<client_id>"})
	config := oauth2.Config{
		ClientID:     "<client_id>",
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  "<base>/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
	}

	http.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		state, pkce := rand.Text(), oauth2.GenerateVerifier()
		setCookie(w, "login", state+"."+pkce, 600)
		to := config.AuthCodeURL(state, oidc.Nonce(state), oauth2.S256ChallengeOption(pkce))
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
	http.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		state, code := r.FormValue("state"), r.FormValue("code")
		cookie, err := r.Cookie("login")
		// Otherwise a link could sign this browser in to the account of the link's author.
		if err != nil || len(state) != 26 || len(cookie.Value) < 27 || cookie.Value[:26] != state {
			http.Error(w, "this browser has not begun this sign-in: begin at /login", 400)
			return
		}
		setCookie(w, "login", "", -1)
		token, err := config.Exchange(r.Context(), code, oauth2.VerifierOption(cookie.Value[27:]))
		if err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		raw, _ := token.Extra("id_token").(string)
		id, err := verifier.Verify(r.Context(), raw)
		if err != nil || id.Nonce != state {
			http.Error(w, "the ID token is not valid", 400)
			return
		}
		tokens := oauth2.ReuseTokenSourceWithExpiry(
			token, config.TokenSource(context.Background(), token), time.Minute)
		sid := rand.Text()
		people.Store(sid, person{id.Subject, raw, tokens})
		setCookie(w, "sid", sid, 8*3600)
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	http.HandleFunc("GET /profile", func(w http.ResponseWriter, r *http.Request) {
		user, ok := signedIn(r)
		if !ok {
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		info, err := provider.UserInfo(r.Context(), user.tokens)
		if err != nil { // no new access token: sign in again
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]string{"sub": info.Subject, "email": info.Email})
	})
	http.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie("sid")
		setCookie(w, "sid", "", -1)
		to := "/"
		if err == nil {
			if found, ok := people.LoadAndDelete(cookie.Value); ok {
				// The session at the identity service ends, too.
				to = "<end_session>?" + url.Values{
					"id_token_hint":            {found.(person).idToken},
					"post_logout_redirect_uri": {"<base>/"},
				}.Encode()
			}
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	})
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if user, ok := signedIn(r); ok {
			fmt.Fprintf(w, "Hello %s %s", html.EscapeString(user.name), signOut)
			return
		}
		fmt.Fprint(w, `<a href="/login">Sign in</a>`)
	})
	log.Fatal(http.ListenAndServe("localhost:<port>", nil))
}

func signedIn(r *http.Request) (person, bool) {
	cookie, err := r.Cookie("sid")
	if err != nil {
		return person{}, false
	}
	found, ok := people.Load(cookie.Value)
	if !ok {
		return person{}, false
	}
	return found.(person), true
}

func setCookie(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: <is_https>, SameSite: http.SameSiteLaxMode})
}
"""

_OIDC_SPA: Final = """\
// oidc.ts: npm install oidc-spa
import { createOidc, oidcEarlyInit } from "oidc-spa/core"

oidcEarlyInit({ BASE_URL: "/" })

// The redirect URI is the root of the application: serve its page there.
export const oidc = await createOidc({
  issuerUri: "<issuer>",
  clientId: "<client_id>",
  scopes: ["profile", "email", "offline_access"],
})
// to sign in: await oidc.login(); to sign out: await oidc.logout({ redirectTo: "home" })
"""

PRESETS: Final[dict[str, Preset]] = {
    "passport": Preset(
        title="Passport (passport-openidconnect)",
        kind="web",
        pkce=False,  # it can't send it
        chosen=REFRESHING,
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(
            message("It has no discovery, so its settings contain each URL.", context="presets"),
        ),
        file="server.js",
        configuration=_PASSPORT,
    ),
    "go": Preset(
        title="Go (go-oidc)",
        kind="web",
        chosen=REFRESHING,
        redirect_uris=("{base}/callback",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="main.go",
        configuration=_GO,
    ),
    "oidc-spa": Preset(
        title="Single-page application (oidc-spa)",
        kind="user_agent",
        chosen=PUBLIC | REFRESHING,
        redirect_uris=("{base}/",),
        post_logout_redirect_uris=("{base}/",),
        notes=(EXACT_ISSUER,),
        file="oidc.ts",
        configuration=_OIDC_SPA,
    ),
}

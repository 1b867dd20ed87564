// A relying party built on openid-client. It does what each line of its input says, as JSON
// {"call": name, "with": {…}}, and answers with a line: {"value": …} or {"error": {…}}.
// What happens in the browser is done by whoever sends the lines.
import * as readline from 'node:readline'
import * as client from 'openid-client'

let config
let expected

const authentications = {
  client_secret_basic: client.ClientSecretBasic,
  client_secret_post: client.ClientSecretPost,
  none: client.None,
}

const calls = {
  // Everything is learned from the issuer's discovery document. With `forgedKeys`, the key set
  // has other keys of the same ids.
  async discover({ issuer, clientId, clientSecret, method, forgedKeys = false }) {
    const authentication = authentications[method](clientSecret)
    const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] }
    if (forgedKeys) options[client.customFetch] = fetchForgingKeys
    config = await client.discovery(new URL(issuer), clientId, {}, authentication, options)
    return config.serverMetadata()
  },

  async authorize({ redirectUri, scope, ...more }) {
    expected = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedState: client.randomState(),
      expectedNonce: client.randomNonce(),
      idTokenExpected: true,
    }
    return client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge: await client.calculatePKCECodeChallenge(expected.pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expected.expectedState,
      nonce: expected.expectedNonce,
      ...more,
    })
  },

  // `instead` replaces what the request of a moment ago makes this party expect.
  async callback({ url, instead = {} }) {
    const checks = { ...expected, ...instead }
    return told(await client.authorizationCodeGrant(config, new URL(url), checks))
  },

  async refresh({ refreshToken, ...more }) {
    return told(await client.refreshTokenGrant(config, refreshToken, more))
  },

  async userinfo({ accessToken, subject }) {
    return client.fetchUserInfo(config, accessToken, subject)
  },

  async endSession(parameters) {
    return client.buildEndSessionUrl(config, parameters)
  },
}

function told(tokens) {
  return { tokens: { ...tokens }, claims: tokens.claims(), expiresIn: tokens.expiresIn() }
}

async function fetchForgingKeys(url, options) {
  const response = await fetch(url, options)
  if (url !== config?.serverMetadata().jwks_uri) return response
  const { keys } = await response.json()
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 }
  algorithm.publicExponent = new Uint8Array([1, 0, 1])
  const { publicKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const { n } = await crypto.subtle.exportKey('jwk', publicKey)
  return Response.json({ keys: keys.map((key) => ({ ...key, n })) })
}

// An error of openid-client may hold the server's in its cause, and of that one the reason.
function described(error) {
  const { name, code, message, error: answered } = error
  const cause = error.cause instanceof Error ? described(error.cause) : undefined
  return { name, code, message, answered, cause }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { call, with: values } = JSON.parse(line)
  try {
    console.log(JSON.stringify({ value: await calls[call](values) }))
  } catch (error) {
    console.log(JSON.stringify({ error: described(error) }))
  }
}

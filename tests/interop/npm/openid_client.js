// A relying party built on openid-client. What happens in the browser is done by whoever sends
// the lines.
import * as client from 'openid-client'
import { serve, signingKey } from './lines.js'

let config
let expected

const authentications = {
  client_secret_basic: ({ clientSecret }) => client.ClientSecretBasic(clientSecret),
  client_secret_post: ({ clientSecret }) => client.ClientSecretPost(clientSecret),
  none: () => client.None(),
  private_key_jwt: async ({ privateKey }) => client.PrivateKeyJwt(await signingKey(privateKey)),
}

await serve({
  // Everything is learned from the issuer's discovery document. With `forgedKeys`, the key set
  // has other keys of the same ids.
  async discover({ issuer, clientId, method, forgedKeys = false, ...secrets }) {
    const authentication = await authentications[method](secrets)
    const options = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] }
    if (forgedKeys) options[client.customFetch] = fetchForgingKeys
    config = await client.discovery(new URL(issuer), clientId, {}, authentication, options)
    return config.serverMetadata()
  },

  async authorize(wanted) {
    return client.buildAuthorizationUrl(config, await parameters(wanted))
  },

  async push(wanted) {
    return client.buildAuthorizationUrlWithPAR(config, await parameters(wanted))
  },

  // `instead` replaces what the request of a moment ago makes this party expect.
  async callback({ url, instead = {} }) {
    const checks = { ...expected, ...instead }
    return told(await client.authorizationCodeGrant(config, new URL(url), checks))
  },

  // What a browser posts to the redirect URI when the answer is a form.
  async posted({ url, form }) {
    const request = new Request(url, { method: 'POST', body: new URLSearchParams(form) })
    return told(await client.authorizationCodeGrant(config, request, expected))
  },

  async implicit({ url }) {
    client.useIdTokenResponseType(config)
    const { expectedNonce, expectedState } = expected
    return client.implicitAuthentication(config, new URL(url), expectedNonce, { expectedState })
  },

  async refresh({ refreshToken, ...more }) {
    return told(await client.refreshTokenGrant(config, refreshToken, more))
  },

  async clientCredentials(wanted) {
    return client.clientCredentialsGrant(config, wanted)
  },

  async startDevice(wanted) {
    expected = await client.initiateDeviceAuthorization(config, wanted)
    return expected
  },

  async pollDevice() {
    return told(await client.pollDeviceAuthorizationGrant(config, expected))
  },

  async introspect({ token }) {
    return client.tokenIntrospection(config, token)
  },

  async revoke({ token }) {
    await client.tokenRevocation(config, token)
    return true
  },

  async userinfo({ accessToken, subject }) {
    return client.fetchUserInfo(config, accessToken, subject)
  },

  async endSession(wanted) {
    return client.buildEndSessionUrl(config, wanted)
  },
})

async function parameters({ redirectUri, ...more }) {
  expected = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
    idTokenExpected: true,
  }
  return {
    redirect_uri: redirectUri,
    code_challenge: await client.calculatePKCECodeChallenge(expected.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expected.expectedState,
    nonce: expected.expectedNonce,
    ...more,
  }
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

// A relying party, and a resource server, built on oauth4webapi, which leaves each step of the
// protocol to its caller. What happens in the browser is done by whoever sends the lines.
import * as oauth from 'oauth4webapi'
import { serve, signingKey } from './lines.js'

const loopback = { [oauth.allowInsecureRequests]: true }
let server
let client
let authentication
let expected

const authentications = {
  client_secret_basic: ({ clientSecret }) => oauth.ClientSecretBasic(clientSecret),
  client_secret_post: ({ clientSecret }) => oauth.ClientSecretPost(clientSecret),
  none: () => oauth.None(),
  private_key_jwt: async ({ privateKey }) => oauth.PrivateKeyJwt(await signingKey(privateKey)),
}

await serve({
  async discover({ issuer, clientId, method, ...secrets }) {
    const answer = await oauth.discoveryRequest(new URL(issuer), loopback)
    server = await oauth.processDiscoveryResponse(new URL(issuer), answer)
    client = { client_id: clientId }
    authentication = await authentications[method](secrets)
    return server
  },

  async authorize(wanted) {
    return addressed(server.authorization_endpoint, await parameters(wanted))
  },

  async push(wanted) {
    const sent = await parameters(wanted)
    const answer = await oauth.pushedAuthorizationRequest(
      server, client, authentication, sent, loopback)
    const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, answer)
    const short = { client_id: client.client_id, request_uri }
    return addressed(server.authorization_endpoint, short)
  },

  async callback({ url }) {
    const { verifier, state, nonce, redirectUri } = expected
    const found = oauth.validateAuthResponse(server, client, new URL(url), state)
    const answer = await oauth.authorizationCodeGrantRequest(
      server, client, authentication, found, redirectUri, verifier, loopback)
    const tokens = await oauth.processAuthorizationCodeResponse(
      server, client, answer, { expectedNonce: nonce, requireIdToken: true })
    await oauth.validateApplicationLevelSignature(server, answer, loopback)
    return { tokens, claims: oauth.getValidatedIdTokenClaims(tokens) }
  },

  async refresh({ refreshToken }) {
    const answer = await oauth.refreshTokenGrantRequest(
      server, client, authentication, refreshToken, loopback)
    const tokens = await oauth.processRefreshTokenResponse(server, client, answer)
    await oauth.validateApplicationLevelSignature(server, answer, loopback)
    return { tokens, claims: oauth.getValidatedIdTokenClaims(tokens) }
  },

  async clientCredentials(wanted) {
    const answer = await oauth.clientCredentialsGrantRequest(
      server, client, authentication, wanted, loopback)
    return oauth.processClientCredentialsResponse(server, client, answer)
  },

  async startDevice(wanted) {
    const answer = await oauth.deviceAuthorizationRequest(
      server, client, authentication, wanted, loopback)
    return oauth.processDeviceAuthorizationResponse(server, client, answer)
  },

  async pollDevice({ deviceCode }) {
    const answer = await oauth.deviceCodeGrantRequest(
      server, client, authentication, deviceCode, loopback)
    return { tokens: await oauth.processDeviceCodeResponse(server, client, answer) }
  },

  async introspect({ token }) {
    const answer = await oauth.introspectionRequest(
      server, client, authentication, token, loopback)
    return oauth.processIntrospectionResponse(server, client, answer)
  },

  async revoke({ token }) {
    const answer = await oauth.revocationRequest(server, client, authentication, token, loopback)
    await oauth.processRevocationResponse(answer)
    return true
  },

  async userinfo({ accessToken, subject }) {
    const answer = await oauth.userInfoRequest(server, client, accessToken, loopback)
    return oauth.processUserInfoResponse(server, client, subject, answer)
  },

  async endSession(wanted) {
    return addressed(server.end_session_endpoint, wanted)
  },

  // As a resource server does with a request that was sent to it (RFC 9068).
  async resource({ accessToken, audience }) {
    const headers = { authorization: `Bearer ${accessToken}` }
    const request = new Request('https://resource.example/', { headers })
    return oauth.validateJwtAccessToken(server, request, audience, loopback)
  },
})

async function parameters({ redirectUri, ...more }) {
  const verifier = oauth.generateRandomCodeVerifier()
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
  expected = { verifier, state, nonce, redirectUri }
  return {
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...more,
  }
}

function addressed(endpoint, query) {
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url
}

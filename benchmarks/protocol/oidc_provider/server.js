// oidc-provider as a yardstick. The first line of the input says how many sign-ins to fill it with,
// the password of each person and how it is hashed, and, unless records are kept in memory, in which
// database: the URL of one of MongoDB, or the path of a file of SQLite. One line of JSON tells who
// may ask for what.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import { Provider } from 'oidc-provider';

import { inMemory, inMongoDB, inSQLite } from './adapters.js';
import { hashOf, loginPages } from './login_pages.js';

const SCOPE = 'openid profile email';
const JWT_RESOURCE = 'urn:benchmark:jwt';
const REDIRECT_URI = 'https://client.example.com/cb';
const LOGIN = '/login/';
const LASTS = 12 * 60 * 60;

const random = () => randomBytes(32).toString('base64url');

async function given() {
  for await (const line of createInterface({ input: process.stdin })) return JSON.parse(line);
  throw new Error('nothing was asked for');
}

function configuration(adapter) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const accounts = new adapter('Account');
  const lasts = ['AccessToken', 'ClientCredentials', 'Grant', 'IdToken', 'RefreshToken', 'Session'];
  return {
    adapter,
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name'],
    },
    findAccount: async (_, accountId) => {
      const account = await accounts.find(accountId);
      return account && { accountId, grantId: account.grantId, claims: async () => account.claims };
    },
    // What somebody has granted once is granted in each browser: no consent is due.
    loadExistingGrant: async ({ oidc }) => {
      const ofSession = oidc.session.grantIdFor(oidc.client.clientId);
      return oidc.provider.Grant.find(ofSession ?? oidc.account.grantId);
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => undefined,
        getResourceServerInfo: async () => ({
          scope: '', accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: (_, { uid }) => `${LOGIN}${uid}` },
    pkce: { required: () => false },
    rotateRefreshToken: true,
    ttl: Object.fromEntries(lasts.map((name) => [name, LASTS])),
  };
}

class Filling {
  constructor(provider, adapter, hash) {
    this.provider = provider;
    this.adapter = adapter;
    this.hash = hash;
  }

  async client(grantTypes) {
    const id = random();
    const secret = random();
    const signsIn = grantTypes.includes('authorization_code');
    await new this.adapter('Client').upsert(id, {
      client_id: id,
      client_secret: secret,
      grant_types: grantTypes,
      redirect_uris: signsIn ? [REDIRECT_URI] : [],
      response_types: signsIn ? ['code'] : [],
      token_endpoint_auth_method: 'client_secret_basic',
    });
    return { id, secret };
  }

  /** Somebody with a password and a session who has granted everything: the login name, the
   * session's cookie, a refresh token. */
  async person(web, number) {
    const accountId = random();
    const loginName = `person-${number}`;
    const grant = new this.provider.Grant({ accountId, clientId: web.id });
    grant.addOIDCScope(`${SCOPE} offline_access`);
    const grantId = await grant.save();
    const claims = {
      sub: accountId,
      name: loginName,
      given_name: 'Some',
      family_name: 'Body',
      email: `${loginName}@example.com`,
      email_verified: true,
    };
    await new this.adapter('Account').upsert(accountId, { grantId, claims });
    await new this.adapter('Login').upsert(loginName, { accountId, hash: this.hash });
    const session = new this.provider.Session();
    session.loginAccount({ accountId });
    session.ensureClientContainer(web.id);
    session.grantIdFor(web.id, grantId);
    await session.save(LASTS);
    const refreshToken = await this.refreshToken(web, accountId, grantId);
    return { loginName, cookie: session.jti, refreshToken };
  }

  async refreshToken(web, accountId, grantId) {
    const token = new this.provider.RefreshToken({
      accountId,
      grantId,
      client: await this.provider.Client.find(web.id),
      gty: 'authorization_code',
      scope: `${SCOPE} offline_access`,
      authTime: Math.floor(Date.now() / 1000),
    });
    return token.save();
  }
}

async function filled(provider, adapter, { count, password, argon2id }, port) {
  const filling = new Filling(provider, adapter, await hashOf(password, argon2id));
  const web = await filling.client(['authorization_code', 'refresh_token']);
  const people = [];
  const machines = [];
  for (let number = 0; number < count; number += 1) {
    people.push(await filling.person(web, number));
    machines.push({ client: await filling.client(['client_credentials']) });
  }
  return {
    host: `127.0.0.1:${port}`,
    paths: {
      authorize: '/auth', token: '/token', introspect: '/token/introspection', userinfo: '/me',
      keys: '/jwks', discovery: '/.well-known/openid-configuration',
    },
    redirect_uri: REDIRECT_URI,
    web,
    api: await filling.client(['client_credentials']),
    signer: await filling.client(['client_credentials']),
    cookie_name: '_session',
    cookies: people.map(({ cookie }) => cookie),
    machines,
    login_names: people.map(({ loginName }) => loginName),
    forms: [{ login: '{}', password }],
    jwt_form: { resource: JWT_RESOURCE },
    refresh_tokens: people.map(({ refreshToken }) => refreshToken),
  };
}

const order = await given();
const { database, argon2id } = order;
const isFile = database.startsWith('/');
const stored = isFile ? inSQLite : inMongoDB;
const adapter = database ? await stored(database) : inMemory();
const server = createServer();
server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  const provider = new Provider(`http://127.0.0.1:${port}`, configuration(adapter));
  const answer = provider.callback();
  const logIn = loginPages(provider, new adapter('Login'), argon2id);
  server.on('request', (request, response) => {
    (request.url.startsWith(LOGIN) ? logIn : answer)(request, response);
  });
  process.stdout.write(`${JSON.stringify(await filled(provider, adapter, order, port))}\n`);
});
process.on('SIGTERM', () => process.exit(0));

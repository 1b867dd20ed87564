// The login page, and passwords hashed by argon2id.

import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const compute = promisify(argon2);

const digest = (message, nonce, parameters) => compute('argon2id', { ...parameters, message, nonce });

export async function hashOf(password, parameters) {
  const nonce = randomBytes(16);
  const tag = await digest(password, nonce, parameters);
  return { nonce: nonce.toString('base64'), tag: tag.toString('base64') };
}

async function isRight(password, { nonce, tag }, parameters) {
  const computed = await digest(password, Buffer.from(nonce, 'base64'), parameters);
  return timingSafeEqual(computed, Buffer.from(tag, 'base64'));
}

const page = (clientId, problem) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
</head>
<body>
<main>
<h1>Sign in</h1>
<p>to continue to ${clientId}</p>
<p role="alert">${problem}</p>
<form method="post">
<label for="login">Login name</label>
<input id="login" name="login" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
</main>
</body>
</html>
`;

function send(response, status, html) {
  const length = Buffer.byteLength(html);
  const type = 'text/html; charset=utf-8';
  response.writeHead(status, {
    'Cache-Control': 'no-store', 'Content-Type': type, 'Content-Length': length,
  });
  response.end(html);
}

async function formOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

/** Answers the requests of the login page; `logins` has an account's id and its hash for each login
 * name. */
export function loginPages(provider, logins, parameters) {
  async function answer(request, response) {
    const { params } = await provider.interactionDetails(request, response);
    const client = await provider.Client.find(params.client_id);
    if (request.method !== 'POST') {
      send(response, 200, page(client.clientId, ''));
      return;
    }
    const form = await formOf(request);
    const login = await logins.find(form.get('login'));
    if (!login || !await isRight(form.get('password'), login.hash, parameters)) {
      send(response, 400, page(client.clientId, 'Check your login name and your password.'));
      return;
    }
    const result = { login: { accountId: login.accountId } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
  return (request, response) => {
    answer(request, response).catch((error) => send(response, 400, page('', error.name)));
  };
}

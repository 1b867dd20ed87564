// An application without a server of its own, built on oidc-client-ts: a public client that asks
// for its tokens by itself, from another origin. `#told` says what came of each step.
const here = location.origin + location.pathname

async function manager() {
  const { authority, client_id } = await (await fetch('settings.json')).json()
  return new oidc.UserManager({
    authority,
    client_id,
    redirect_uri: here,
    post_logout_redirect_uri: here,
    scope: 'openid profile email offline_access',
    loadUserInfo: true,
    automaticSilentRenew: false,
    userStore: new oidc.WebStorageStateStore({ store: localStorage }),
  })
}

function tell(step, user, more = {}) {
  const { profile, access_token, refresh_token, expired } = user ?? {}
  const told = { step, profile, access_token, refresh_token, expired, ...more }
  document.getElementById('told').textContent = JSON.stringify(told)
}

function on(id, act) {
  document.getElementById(id).addEventListener('click', () => act().catch(failed))
}

function failed(error) {
  tell('failed', undefined, { error: error.error, message: error.message })
}

async function begin() {
  const users = await manager()
  on('in', () => users.signinRedirect())
  on('refresh', async () => tell('refreshed', await users.signinSilent()))
  on('revoke', async () => {
    await users.revokeTokens(['access_token', 'refresh_token'])
    tell('revoked', await users.getUser())
  })
  on('out', () => users.signoutRedirect({ state: 'bye' }))
  if (!location.search) return tell('ready', await users.getUser())
  const isBack = new URLSearchParams(location.search).has('code')
  if (isBack) tell('signed in', await users.signinCallback())
  else tell('signed out', undefined, { answer: await users.signoutCallback() })
  history.replaceState({}, '', here)
}

begin().catch(failed)

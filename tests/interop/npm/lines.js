// A program that does what each line of its input says, as JSON {"call": name, "with": {…}}, and
// answers with a line: {"value": …} or {"error": {…}}.
import { createPrivateKey } from 'node:crypto'
import * as readline from 'node:readline'

export async function serve(calls) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { call, with: values } = JSON.parse(line)
    try {
      console.log(JSON.stringify({ value: await calls[call](values) }))
    } catch (error) {
      console.log(JSON.stringify({ error: described(error) }))
    }
  }
}

// A private key, as the parties sign with it.
export async function signingKey({ pem, kid }) {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  return { key: await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']), kid }
}

// An error may hold the server's in its cause, and of that one the reason.
function described(error) {
  const { name, code, message, error: answered } = error
  const cause = error.cause instanceof Error ? described(error.cause) : undefined
  return { name, code, message, answered, cause }
}

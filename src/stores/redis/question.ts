import { randomBytes } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'

/** Made with the first question and not when this is loaded: processes that start from one snapshot of V8 would share it. */
let asker: string | undefined
let asked = 0

/**
 * The name of one question, which its answer repeats. Clients match answers by their order alone, and other users of a
 * connection can disturb it: node-redis with RESP 2 does so once someone has subscribed on it. It is a key of the store,
 * because besides its arguments a script is given only keys.
 */
export function nextQuestion(prefix: string): string {
  asker ??= randomBytes(12).toString('base64url')
  return `${prefix}asked:${asker}:${++asked}`
}

/**
 * For scripts that count or take something. A client that lost the connection may send the same question again, and the
 * caller gets only the second answer, which must equal the first.
 */
export const repeatingLua = `
local function answeredBefore()
  local answer = redis.call('GET', KEYS[2])
  return answer and cjson.decode(answer)
end
local function remember(answer)
  redis.call('SET', KEYS[2], cjson.encode(answer), 'PX', 60000)
  return answer
end
`

/** The script, returning the question with its answer. Errors are returned unchanged. */
export function answering(lua: string): string {
  return `local function answer()
${lua}
end
local said = answer()
if type(said) == 'table' and said.err then return said end
return { KEYS[2], said }`
}

export function answerTo(question: string, reply: unknown): unknown {
  if (Array.isArray(reply) && reply.length > 0 && String(reply[0]) === question) return reply[1] ?? null
  throw outOfStep()
}

export function outOfStep(): JustonceError {
  return new JustonceError('STORE_UNREACHABLE', {
    message:
      'The Redis client returned the answer to another question: other users of the connection have put it out of step. Give the store its own client.',
  })
}

import { script } from '../connection.ts'
import { preludeLua } from './shared.ts'

/** `outbox-ready` has what can be sent, oldest first; `outbox-later` what is leased or delayed, by when that ends. */
const heldLua = `
local function held(id, lease)
  return redis.call('HGET', P .. 'outbox:' .. id, 'lease') == lease
end
`

/** Arguments: limit, lease in milliseconds, its name. Answers id, attempts, envelope and body of each. */
export const leaseScript = script(
  preludeLua,
  `
for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. 'outbox-later', '-inf', now)) do
  redis.call('ZREM', P .. 'outbox-later', id)
  redis.call('ZADD', P .. 'outbox-ready', redis.call('HGET', P .. 'outbox:' .. id, 'number'), id)
end
local leased = {}
for i, id in ipairs(redis.call('ZRANGE', P .. 'outbox-ready', 0, ARGV[2] - 1)) do
  redis.call('ZREM', P .. 'outbox-ready', id)
  redis.call('ZADD', P .. 'outbox-later', now + tonumber(ARGV[3]), id)
  redis.call('HSET', P .. 'outbox:' .. id, 'lease', ARGV[4])
  leased[i] = { id, unpack(redis.call('HMGET', P .. 'outbox:' .. id, 'attempts', 'envelope', 'body')) }
end
return leased
`,
)

/** Arguments: pairs of id and lease. */
export const sentScript = script(
  preludeLua,
  heldLua,
  `
local removed = 0
for i = 2, #ARGV, 2 do
  if held(ARGV[i], ARGV[i + 1]) then
    redis.call('DEL', P .. 'outbox:' .. ARGV[i])
    redis.call('ZREM', P .. 'outbox-later', ARGV[i])
    redis.call('ZREM', P .. 'outbox-ready', ARGV[i])
    removed = removed + 1
  end
end
return removed
`,
)

/** Arguments: delay, error, 1 if dead, then pairs of id and lease. */
export const failedScript = script(
  preludeLua,
  heldLua,
  `
for i = 5, #ARGV, 2 do
  local id = ARGV[i]
  if held(id, ARGV[i + 1]) then
    local key = P .. 'outbox:' .. id
    redis.call('HDEL', key, 'lease')
    redis.call('HSET', key, 'error', ARGV[3])
    redis.call('HINCRBY', key, 'attempts', 1)
    redis.call('ZREM', P .. 'outbox-later', id)
    redis.call('ZREM', P .. 'outbox-ready', id)
    local list = ARGV[4] == '1' and 'outbox-dead' or 'outbox-later'
    redis.call('ZADD', P .. list, now + tonumber(ARGV[2]), id)
  end
end
`,
)

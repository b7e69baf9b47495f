import { script } from '../connection.ts'
import { holdersLua, preludeLua, recordLua } from './shared.ts'

/**
 * A failover changes the replication id: what was acknowledged just before it may be lost, and caches must not hide that. If
 * the server does not report the id, every epoch is different, and nothing is remembered.
 */
const epochLua = `
local function epoch()
  local info = redis.pcall('INFO', 'replication')
  local id = type(info) == 'string' and string.match(info, 'master_replid:(%w+)') or clock[1] .. clock[2]
  local counter = recordAt(P .. 'epoch')
  if counter == notText then return '' end
  if not counter then
    counter = clock[1] .. clock[2] .. ':0'
    redis.call('SET', P .. 'epoch', counter)
  end
  return counter .. ':' .. id
end
`

/**
 * Arguments: token, lease, then the names of records. Takes them in order up to the first that another transaction has
 * claimed. Returns the epoch, then for each one taken or known what is there now: our claim, or the record. An empty epoch
 * comes alone: its key holds no text.
 */
export const claimScript = script(
  preludeLua,
  holdersLua,
  recordLua,
  epochLua,
  `
local claim = 'C' .. ARGV[2]
local answers = { epoch() }
if answers[1] == '' then return answers end
for i = 4, #ARGV do
  local key = P .. 'inbox:' .. ARGV[i]
  local value = recordAt(key)
  if not value then
    redis.call('SET', key, claim, 'PX', ARGV[3])
    value = claim
  end
  if string.sub(value, 1, 1) == 'C' and value ~= claim then
    shorten(key, value)
    break
  end
  answers[#answers + 1] = value
end
return answers
`,
)

/** Arguments: token, how many claims, their names, then the names of locks. Releases those that are still ours. */
export const releaseScript = script(
  `
local P = ARGV[1]
local claims = tonumber(ARGV[3])
for i = 4, #ARGV do
  local isClaim = i - 3 <= claims
  local key = P .. (isClaim and 'inbox:' or 'lock:') .. ARGV[i]
  if redis.call('GET', key) == (isClaim and 'C' or '') .. ARGV[2] then redis.call('DEL', key) end
end
`,
)

/** Like `releaseScript`, with the lease before the number of claims: extends those that are still ours. */
export const renewScript = script(
  `
local P = ARGV[1]
local claims = tonumber(ARGV[4])
for i = 5, #ARGV do
  local isClaim = i - 4 <= claims
  local key = P .. (isClaim and 'inbox:' or 'lock:') .. ARGV[i]
  if redis.call('GET', key) == (isClaim and 'C' or '') .. ARGV[2] then redis.call('PEXPIRE', key, ARGV[3]) end
end
`,
)

import { script } from '../connection.ts'
import { repeatingLua } from '../question.ts'
import { preludeLua } from './shared.ts'

/** Arguments: 1 or -1, then ids. A count that would fall to nothing is removed. When each last began is kept beside it. */
export const suspectScript = script(
  preludeLua,
  repeatingLua,
  `
local key, seen = P .. 'suspects', P .. 'suspects-seen'
if answeredBefore() then return end
remember({})
for i = 3, #ARGV do
  if redis.call('HINCRBY', key, ARGV[i], ARGV[2]) <= 0 then
    redis.call('HDEL', key, ARGV[i])
    redis.call('ZREM', seen, ARGV[i])
  elseif ARGV[2] == '1' then
    redis.call('ZADD', seen, now, ARGV[i])
  end
end
`,
)

/** Arguments: how many milliseconds ago the last beginning may be. */
export const forgetSuspectsScript = script(
  preludeLua,
  `
local old = redis.call('ZRANGEBYSCORE', P .. 'suspects-seen', '-inf', '(' .. (now - tonumber(ARGV[2])))
for _, id in ipairs(old) do
  redis.call('HDEL', P .. 'suspects', id)
  redis.call('ZREM', P .. 'suspects-seen', id)
end
`,
)

/**
 * The fence is at least the time, in microseconds, so that it goes on growing when the last one was flushed or lost.
 * Arguments: name, milliseconds. Answers the fence, or nothing: somebody has it.
 */
export const acquireScript = script(
  repeatingLua,
  `
local before = answeredBefore()
if before then return before[1] end
local key = ARGV[1] .. 'lease:' .. ARGV[2]
local length = ARGV[1] .. 'lease-ms:' .. ARGV[2]
if redis.call('EXISTS', key) == 1 then
  -- None ends later than its length from now, unless the clock was ahead when it was taken.
  local most = tonumber(redis.call('GET', length) or 0)
  if most > 0 and redis.call('PTTL', key) > most then redis.call('PEXPIRE', key, most) end
  return false
end
local last = tonumber(redis.call('GET', ARGV[1] .. 'fence:' .. ARGV[2]) or 0)
local time = redis.call('TIME')
local fence = string.format('%.0f', math.max(last + 1, time[1] * 1000000 + time[2]))
redis.call('SET', ARGV[1] .. 'fence:' .. ARGV[2], fence)
redis.call('SET', key, fence, 'PX', ARGV[3])
redis.call('SET', length, ARGV[3])
return remember({ fence })[1]
`,
)

/** Arguments: name, fence, milliseconds; 0 gives it up. */
export const holdScript = script(
  repeatingLua,
  `
local before = answeredBefore()
if before then return before[1] end
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) ~= ARGV[3] then return 0 end
if ARGV[4] == '0' then return remember({ redis.call('DEL', key) })[1] end
redis.call('SET', ARGV[1] .. 'lease-ms:' .. ARGV[2], ARGV[4])
return redis.call('PEXPIRE', key, ARGV[4])
`,
)

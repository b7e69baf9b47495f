import { script } from '../connection.ts'

/** Arguments: 1 or -1, then ids. A count that would fall to nothing is removed. */
export const suspectScript = script(
  `
local key = ARGV[1] .. 'suspects'
for i = 3, #ARGV do
  if redis.call('HINCRBY', key, ARGV[i], ARGV[2]) <= 0 then redis.call('HDEL', key, ARGV[i]) end
end
`,
)

/** Arguments: name, milliseconds. Answers the fence, or nothing: somebody has it. */
export const acquireScript = script(
  `
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('EXISTS', key) == 1 then return false end
local fence = redis.call('INCR', ARGV[1] .. 'fence:' .. ARGV[2])
redis.call('SET', key, fence, 'PX', ARGV[3])
return fence
`,
)

/** Arguments: name, fence, milliseconds; 0 gives it up. */
export const holdScript = script(
  `
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) ~= ARGV[3] then return 0 end
if ARGV[4] == '0' then return redis.call('DEL', key) end
return redis.call('PEXPIRE', key, ARGV[4])
`,
)

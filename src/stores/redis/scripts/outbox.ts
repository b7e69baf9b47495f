import { script } from '../connection.ts'
import { preludeLua } from './shared.ts'

/**
 * `outbox-ready` has what can be leased, oldest first; `outbox-later` what is leased or delayed, by when that ends. All
 * that is pending of one lane is in `outbox-lane:` in its order, and only the first of them can be ready: whoever looks
 * for messages never wades through what stands behind one that waits. `outbox-pending` counts them all.
 */
const rowsLua = `
local ready, later = P .. 'outbox-ready', P .. 'outbox-later'
local function rowKey(id) return P .. 'outbox:' .. id end
local function laneKey(lane) return P .. 'outbox-lane:' .. lane end
local function numberOf(id) return redis.call('HGET', rowKey(id), 'number') end
local function laneOf(id) return redis.call('HGET', rowKey(id), 'lane') end

local function held(id, lease)
  return redis.call('HGET', rowKey(id), 'lease') == lease
end

-- The first of a lane is ready unless it is leased or delayed.
local function promote(lane)
  local head = first(laneKey(lane))
  if head and not redis.call('ZSCORE', later, head) then redis.call('ZADD', ready, numberOf(head), head) end
end

-- It waits for nothing any more, except for those before it.
local function makeReady(id)
  redis.call('ZREM', later, id)
  local lane = laneOf(id)
  if lane then promote(lane) else redis.call('ZADD', ready, numberOf(id), id) end
end

local function leave(id)
  redis.call('DECR', P .. 'outbox-pending')
  redis.call('ZREM', later, id)
  redis.call('ZREM', ready, id)
  local lane = laneOf(id)
  if not lane then return end
  redis.call('ZREM', laneKey(lane), id)
  promote(lane)
end
`

/** Arguments: limit, lease in milliseconds, its name. Answers id, attempts, envelope and body of each. */
export const leaseScript = script(
  preludeLua,
  rowsLua,
  `
for _, id in ipairs(redis.call('ZRANGEBYSCORE', later, '-inf', now)) do makeReady(id) end
local leased, followers = {}, {}
while #leased < tonumber(ARGV[2]) do
  local id = first(ready)
  if not id then break end
  redis.call('ZREM', ready, id)
  redis.call('ZADD', later, now + tonumber(ARGV[3]), id)
  redis.call('HSET', rowKey(id), 'lease', ARGV[4])
  leased[#leased + 1] = { id, unpack(redis.call('HMGET', rowKey(id), 'attempts', 'envelope', 'body')) }
  local lane = laneOf(id)
  if lane then
    -- For this call the next of the row can be leased, too.
    local rank = redis.call('ZRANK', laneKey(lane), id)
    local follower = redis.call('ZRANGE', laneKey(lane), rank + 1, rank + 1)[1]
    if follower and redis.call('ZSCORE', later, follower) then follower = nil end
    if follower then redis.call('ZADD', ready, numberOf(follower), follower) end
    followers[lane] = follower
  end
end
for _, id in pairs(followers) do
  if id then redis.call('ZREM', ready, id) end
end
return leased
`,
)

/** Arguments: pairs of id and lease. */
export const sentScript = script(
  preludeLua,
  rowsLua,
  `
local removed = 0
for i = 2, #ARGV, 2 do
  if held(ARGV[i], ARGV[i + 1]) then
    leave(ARGV[i])
    redis.call('DEL', rowKey(ARGV[i]))
    removed = removed + 1
  end
end
return removed
`,
)

/** Arguments: delay, error, 1 if dead, then pairs of id and lease. */
export const failedScript = script(
  preludeLua,
  rowsLua,
  `
for i = 5, #ARGV, 2 do
  local id = ARGV[i]
  if held(id, ARGV[i + 1]) then
    redis.call('HDEL', rowKey(id), 'lease')
    redis.call('HSET', rowKey(id), 'error', ARGV[3])
    redis.call('HINCRBY', rowKey(id), 'attempts', 1)
    if ARGV[4] == '1' then
      leave(id)
      redis.call('ZADD', P .. 'outbox-dead', numberOf(id), id)
    else
      redis.call('ZREM', ready, id)
      redis.call('ZADD', later, now + tonumber(ARGV[2]), id)
    end
  end
end
`,
)

/** Arguments: pairs of id and lease. */
export const releaseScript = script(
  preludeLua,
  rowsLua,
  `
for i = 2, #ARGV, 2 do
  if held(ARGV[i], ARGV[i + 1]) then
    redis.call('HDEL', rowKey(ARGV[i]), 'lease')
    makeReady(ARGV[i])
  end
end
`,
)

/** Arguments: limit. Answers id, attempts, error, envelope and body of each. */
export const deadScript = script(
  preludeLua,
  rowsLua,
  `
local dead = {}
for i, id in ipairs(redis.call('ZRANGE', P .. 'outbox-dead', 0, ARGV[2] - 1)) do
  dead[i] = { id, unpack(redis.call('HMGET', rowKey(id), 'attempts', 'error', 'envelope', 'body')) }
end
return dead
`,
)

/** Arguments: 1 for all of them, or 0 and ids. */
export const reviveScript = script(
  preludeLua,
  rowsLua,
  `
local ids = ARGV[2] == '1' and redis.call('ZRANGE', P .. 'outbox-dead', 0, -1) or {}
for i = 3, #ARGV do ids[#ids + 1] = ARGV[i] end
local revived = 0
for _, id in ipairs(ids) do
  if redis.call('ZREM', P .. 'outbox-dead', id) == 1 then
    redis.call('INCR', P .. 'outbox-pending')
    redis.call('HSET', rowKey(id), 'attempts', 0)
    local lane = laneOf(id)
    if lane then
      -- It may come before the one that was the first until now.
      local head = first(laneKey(lane))
      if head then redis.call('ZREM', ready, head) end
      redis.call('ZADD', laneKey(lane), numberOf(id), id)
    end
    makeReady(id)
    revived = revived + 1
  end
end
return revived
`,
)

import { script } from '../connection.ts'
import { preludeLua } from './shared.ts'

/**
 * A row is named by its number, not by the id of its message: several may have the same. `outbox-ready` has what can be
 * leased, oldest first; `outbox-later` what is leased or delayed, by when that ends. All that is pending of one lane is in
 * `outbox-lane:` in its order, and only the first of them can be ready: whoever looks for messages never wades through
 * what stands behind one that waits. `outbox-pending` counts them all.
 */
const rowsLua = `
local ready, later = P .. 'outbox-ready', P .. 'outbox-later'
local function rowKey(row) return P .. 'outbox:' .. row end
local function laneKey(lane) return P .. 'outbox-lane:' .. lane end
local function laneOf(row) return redis.call('HGET', rowKey(row), 'lane') end

local function held(row, lease)
  return redis.call('HGET', rowKey(row), 'lease') == lease
end

-- A row that the server has evicted is still named in lists, and must not stop the others in them.
local function isLost(row)
  if redis.call('EXISTS', rowKey(row)) == 1 then return false end
  redis.call('DECR', P .. 'outbox-pending')
  redis.call('ZREM', later, row)
  redis.call('ZREM', ready, row)
  return true
end

local function inLane(lane, rank)
  local row = redis.call('ZRANGE', laneKey(lane), rank, rank)[1]
  while row and isLost(row) do
    redis.call('ZREM', laneKey(lane), row)
    row = redis.call('ZRANGE', laneKey(lane), rank, rank)[1]
  end
  return row
end

-- The first of a lane is ready unless it is leased or delayed.
local function promote(lane)
  local head = inLane(lane, 0)
  if head and not redis.call('ZSCORE', later, head) then redis.call('ZADD', ready, head, head) end
end

-- It waits for nothing any more, except for those before it.
local function makeReady(row)
  redis.call('ZREM', later, row)
  local lane = laneOf(row)
  if lane then promote(lane) else redis.call('ZADD', ready, row, row) end
end

local function leave(row)
  redis.call('DECR', P .. 'outbox-pending')
  redis.call('ZREM', later, row)
  redis.call('ZREM', ready, row)
  local lane = laneOf(row)
  if not lane then return end
  redis.call('ZREM', laneKey(lane), row)
  promote(lane)
end
`

/** Arguments: limit, lease in milliseconds, its name, the most bytes. Answers row, id, attempts, envelope and body of each. */
export const leaseScript = script(
  preludeLua,
  rowsLua,
  `
for _, row in ipairs(redis.call('ZRANGEBYSCORE', later, '-inf', now)) do
  if not isLost(row) then makeReady(row) end
end
local leased, followers, bytes = {}, {}, 0
while #leased < tonumber(ARGV[2]) and bytes < tonumber(ARGV[5]) do
  local row = first(ready)
  while row and isLost(row) do row = first(ready) end
  if not row then break end
  redis.call('ZREM', ready, row)
  redis.call('ZADD', later, now + tonumber(ARGV[3]), row)
  redis.call('HSET', rowKey(row), 'lease', ARGV[4])
  leased[#leased + 1] = { row, unpack(redis.call('HMGET', rowKey(row), 'id', 'attempts', 'envelope', 'body')) }
  bytes = bytes + redis.call('HSTRLEN', rowKey(row), 'envelope') + redis.call('HSTRLEN', rowKey(row), 'body')
  local lane = laneOf(row)
  if lane then
    -- For this call the next of the row can be leased, too.
    local rank = redis.call('ZRANK', laneKey(lane), row)
    local follower = inLane(lane, rank + 1)
    if follower and redis.call('ZSCORE', later, follower) then follower = nil end
    if follower then redis.call('ZADD', ready, follower, follower) end
    followers[lane] = follower
  end
end
for _, row in pairs(followers) do
  if row then redis.call('ZREM', ready, row) end
end
return leased
`,
)

/** Arguments: pairs of row and lease. */
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

/** Arguments: delay, error, 1 if dead, then pairs of row and lease. */
export const failedScript = script(
  preludeLua,
  rowsLua,
  `
for i = 5, #ARGV, 2 do
  local row = ARGV[i]
  if held(row, ARGV[i + 1]) then
    redis.call('HDEL', rowKey(row), 'lease')
    redis.call('HSET', rowKey(row), 'error', ARGV[3])
    redis.call('HINCRBY', rowKey(row), 'attempts', 1)
    if ARGV[4] == '1' then
      leave(row)
      redis.call('ZADD', P .. 'outbox-dead', row, row)
    else
      redis.call('ZREM', ready, row)
      redis.call('ZADD', later, now + tonumber(ARGV[2]), row)
    end
  end
end
`,
)

/** Arguments: pairs of row and lease. */
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
for _, row in ipairs(redis.call('ZRANGE', P .. 'outbox-dead', 0, ARGV[2] - 1)) do
  local values = redis.call('HMGET', rowKey(row), 'id', 'attempts', 'error', 'envelope', 'body')
  if values[1] then dead[#dead + 1] = values end
end
return dead
`,
)

/** Arguments: 1 for all of them, or 0 and ids. */
export const reviveScript = script(
  preludeLua,
  rowsLua,
  `
local wanted = {}
for i = 3, #ARGV do wanted[ARGV[i]] = true end
local revived = 0
for _, row in ipairs(redis.call('ZRANGE', P .. 'outbox-dead', 0, -1)) do
  local id = redis.call('HGET', rowKey(row), 'id')
  if id and (ARGV[2] == '1' or wanted[id]) then
    redis.call('ZREM', P .. 'outbox-dead', row)
    redis.call('INCR', P .. 'outbox-pending')
    redis.call('HSET', rowKey(row), 'attempts', 0)
    local lane = laneOf(row)
    if lane then
      -- It may come before the one that was the first until now.
      local head = first(laneKey(lane))
      if head then redis.call('ZREM', ready, head) end
      redis.call('ZADD', laneKey(lane), row, row)
    end
    makeReady(row)
    revived = revived + 1
  end
end
return revived
`,
)

import { script } from '../connection.ts'
import { repeatingLua } from '../question.ts'
import { queueLua } from './queue-rows.ts'
import { preludeLua } from './shared.ts'

/** Arguments: queue, limit, for how long, how long is too long, the most bytes of bodies. Returns row, deliveries, envelope and body of each. */
export const takeScript = script(
  preludeLua,
  queueLua,
  repeatingLua,
  `
-- Without those that another process has taken since.
local function contentsOf(taken)
  local contents = {}
  for _, each in ipairs(taken) do
    local queued = redis.call('HMGET', queuedKey(each.row), 'deliveries', 'envelope', 'body')
    if queued[1] == each.deliveries then contents[#contents + 1] = { each.row, unpack(queued) } end
  end
  return contents
end
local before = answeredBefore()
if before then return contentsOf(before) end
local queue, limit, hideMs, longestMs, maxBytes = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local ready, later = listOf('ready', queue), listOf('later', queue)
-- So many that nobody waits long for this script; the others are found by the next.
for _, row in ipairs(redis.call('ZRANGEBYSCORE', later, '-inf', now, 'LIMIT', 0, 10000)) do unhide(queue, row) end
-- Hidden while the server's clock was ahead.
for _, row in ipairs(redis.call('ZRANGEBYSCORE', later, '(' .. (now + longestMs), '+inf', 'LIMIT', 0, 10000)) do
  redis.call('ZADD', later, now + longestMs, row)
end

local taken, followers, bytes = {}, {}, 0
while #taken < limit do
  local row = first(ready)
  if not row then break end
  local lane = laneOf(row)
  if isThere(queue, row) then
    local key = queuedKey(row)
    bytes = bytes + redis.call('HGET', key, 'size')
    if #taken > 0 and bytes > maxBytes then break end
    redis.call('ZREM', ready, row)
    redis.call('ZADD', later, now + hideMs, row)
    taken[#taken + 1] = { row = row, deliveries = tostring(redis.call('HINCRBY', key, 'deliveries', 1)) }
    local rank = lane and redis.call('ZRANK', listOf('lane', lane), row)
    if rank then
      -- For this call the next of the lane is ready, too.
      local follower = inLane(queue, lane, rank + 1)
      if follower and redis.call('ZSCORE', later, follower) then follower = nil end
      if follower then enlist(ready, follower) end
      followers[lane] = follower
    end
  elseif lane then
    promote(queue, lane)
  end
end
for _, row in pairs(followers) do redis.call('ZREM', ready, row) end
if #taken > 0 then
  remember(taken)
else
  -- The oldest is either hidden or ready. If it is neither, a list was evicted, or a damaged log was replayed in part.
  local oldest = first(listOf('all', queue))
  if oldest and not redis.call('ZSCORE', later, oldest) then
    for _, row in ipairs(redis.call('ZRANGE', listOf('all', queue), 0, 9999)) do
      if not redis.call('ZSCORE', later, row) then unhide(queue, row) end
    end
  end
end
return contentsOf(taken)
`,
)

/** Arguments: queue, for how long they are hidden, 1 if they count as not taken, then row and deliveries of each. */
export const hideScript = script(
  preludeLua,
  queueLua,
  repeatingLua,
  `
if answeredBefore() then return end
remember({})
local queue, hideMs, untaken = ARGV[2], tonumber(ARGV[3]), ARGV[4] == '1'
for i = 5, #ARGV, 2 do
  local row = ARGV[i]
  if isStillTaken(queue, row, ARGV[i + 1]) then
    if untaken then redis.call('HINCRBY', queuedKey(row), 'deliveries', -1) end
    hideFor(queue, row, hideMs)
  end
end
`,
)

/** Arguments: queue. Returns how many there are, how many of them are hidden, and the age of the oldest. */
export const countScript = script(
  preludeLua,
  queueLua,
  `
local queue = ARGV[2]
local all = listOf('all', queue)
local oldest = first(all)
while oldest and not isThere(queue, oldest) do
  local lane = laneOf(oldest)
  if lane then promote(queue, lane) end
  oldest = first(all)
end
local sentAt = oldest and redis.call('HGET', queuedKey(oldest), 'sentAt') or now
return {
  redis.call('ZCARD', all),
  redis.call('ZCOUNT', listOf('later', queue), '(' .. now, '+inf'),
  math.max(now - sentAt, 0),
}
`,
)

/** Arguments: queue, the sequence after which it begins, limit, the most bytes. Returns row, deliveries, envelope, body and time of each. */
export const listScript = script(
  preludeLua,
  queueLua,
  `
local queue, after, limit, maxBytes = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local listed, bytes = {}, 0
for _, row in ipairs(redis.call('ZRANGEBYSCORE', listOf('all', queue), '(' .. after, '+inf', 'LIMIT', 0, limit)) do
  local queued = redis.call('HMGET', queuedKey(row), 'deliveries', 'envelope', 'body', 'sentAt')
  -- One that the server has evicted is passed over.
  if queued[1] then
    if #listed > 0 and bytes >= maxBytes then break end
    -- They are in base64.
    bytes = bytes + (string.len(queued[2]) + string.len(queued[3])) * 3 / 4
    listed[#listed + 1] = { row, unpack(queued) }
  end
end
return listed
`,
)

/**
 * Needs the prelude. A message is a hash, `queued:` and the name of its row: its sequence and, if it has a key, a colon and
 * the lane, which stands for the queue and the key. So its lane is known even if the server has evicted the hash.
 *
 * `queue-all:` has the rows of a queue, oldest first; `queue-later:` the hidden ones, by when they become visible;
 * `queue-ready:` what can be taken. `queue-lane:` has all rows of one lane, of which only the first can be ready, so a take
 * never scans the rows behind a hidden one. `queues` has the names of the queues that have messages.
 */
export const queueLua = `
local function listOf(kind, queue) return P .. 'queue-' .. kind .. ':' .. queue end
local function queuedKey(row) return P .. 'queued:' .. row end
local function laneOf(row) return string.match(row, ':(.+)$') end
local function enlist(list, row) redis.call('ZADD', list, string.match(row, '^%d+'), row) end

-- At least the time, in microseconds: after a failover that has lost the last of them, no message may get the sequence of
-- another, whose holder would remove the wrong one.
local function nextSequence()
  local last = tonumber(redis.call('GET', P .. 'queue-sequence') or 0)
  local sequence = string.format('%.0f', math.max(last + 1, clock[1] * 1000000 + clock[2]))
  redis.call('SET', P .. 'queue-sequence', sequence)
  return sequence
end

-- False: it is not in this queue.
local function unlist(queue, row)
  local found = 0
  for _, kind in ipairs({ 'all', 'ready', 'later' }) do
    found = found + redis.call('ZREM', listOf(kind, queue), row)
  end
  if found == 0 then return false end
  local lane = laneOf(row)
  if lane then redis.call('ZREM', listOf('lane', lane), row) end
  if redis.call('ZCARD', listOf('all', queue)) == 0 then redis.call('ZREM', P .. 'queues', queue) end
  return true
end

-- A row that the server has evicted is still listed, and must not stop the others.
local function isThere(queue, row)
  if redis.call('EXISTS', queuedKey(row)) == 1 then return true end
  unlist(queue, row)
  return false
end

local function inLane(queue, lane, rank)
  local list = listOf('lane', lane)
  while true do
    local row = redis.call('ZRANGE', list, rank, rank)[1]
    if not row or isThere(queue, row) then return row end
    redis.call('ZREM', list, row)
  end
end

-- The first of a lane is ready unless it is hidden.
local function promote(queue, lane)
  local row = inLane(queue, lane, 0)
  if row and not redis.call('ZSCORE', listOf('later', queue), row) then enlist(listOf('ready', queue), row) end
end

-- It only waits for those before it now.
local function unhide(queue, row)
  redis.call('ZREM', listOf('later', queue), row)
  local lane = laneOf(row)
  if lane then promote(queue, lane)
  elseif isThere(queue, row) then enlist(listOf('ready', queue), row) end
end

local function hideFor(queue, row, hideMs)
  if hideMs <= 0 then return unhide(queue, row) end
  redis.call('ZREM', listOf('ready', queue), row)
  redis.call('ZADD', listOf('later', queue), now + hideMs, row)
end

local function isQueued(queue, row) return redis.call('ZSCORE', listOf('all', queue), row) end

local function isStillTaken(queue, row, deliveries)
  return isQueued(queue, row) and redis.call('HGET', queuedKey(row), 'deliveries') == deliveries
end

local function removeQueued(queue, row)
  if not unlist(queue, row) then return end
  redis.call('DEL', queuedKey(row))
  local lane = laneOf(row)
  if lane then promote(queue, lane) end
end

local function sendQueued(queue, envelope, body, size, lane)
  local row = nextSequence()
  if lane then row = row .. ':' .. lane end
  redis.call('HSET', queuedKey(row), 'sentAt', now, 'deliveries', 0, 'size', size, 'envelope', envelope, 'body', body)
  redis.call('ZADD', P .. 'queues', 0, queue)
  enlist(listOf('all', queue), row)
  if not lane then return enlist(listOf('ready', queue), row) end
  enlist(listOf('lane', lane), row)
  if redis.call('ZCARD', listOf('lane', lane)) == 1 then enlist(listOf('ready', queue), row) end
end
`

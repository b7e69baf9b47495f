/** Begins every script: `P` is the prefix of every key, `now` is the server's time. */
export const preludeLua = `
local P = ARGV[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function first(zset)
  return redis.call('ZRANGE', zset, 0, 0)[1]
end
local function lowest(zset)
  return tonumber(redis.call('ZRANGE', zset, 0, 0, 'WITHSCORES')[2])
end
`

/** Another program may have put there what is no text: then it is something that cannot be read, and not the fault of the others. */
export const recordLua = `
local notText = 'no text'
local function recordAt(key)
  local value = redis.pcall('GET', key)
  if type(value) ~= 'table' then return value end
  return string.find(value.err, 'WRONGTYPE', 1, true) and notText or redis.call('GET', key)
end
`

/**
 * Nobody takes a claim or a lock for longer than the lease in its token from now, unless the server's clock was ahead then. It is
 * shortened and not taken away: a holder that is alive renews it in time.
 */
export const holdersLua = `
local function shorten(key, holder)
  local lease = tonumber(string.match(holder, '%.(%d+)$') or '')
  if lease and redis.call('PTTL', key) > lease then redis.call('PEXPIRE', key, lease) end
end
local function holderOf(key)
  local holder = redis.call('GET', key)
  if holder then shorten(key, holder) end
  return holder
end
local function isLocked(id) return holderOf(P .. 'lock:row:' .. id) end
`

/**
 * How parked rows are found. A row is a hash. `parked-all` has them in the order in which they were parked, `parked-dead`
 * the dead ones, `steps:` those of one message, `scope:` those of one order key (`scope-waiting:` without dead ones). `due:`
 * and `due-past-dead:` of a handler hold only rows with nothing before them, so a search for due rows never scans a backlog.
 * `redrive:` has those that were selected for a redrive.
 */
export const rowsLua = `
local function rowKey(id) return P .. 'parked:' .. id end
-- Read as text: as a number it would lose its last digits in JSON.
local function nextRevision(id)
  redis.call('HINCRBY', rowKey(id), 'revision', 1)
  return redis.call('HGET', rowKey(id), 'revision')
end
local function dueMember(sequence, id) return string.format('%016d', sequence) .. id end

-- The first of a list, without those that the server has evicted.
local function firstThere(list)
  while true do
    local id = first(list)
    if not id or redis.call('EXISTS', rowKey(id)) == 1 then return id end
    redis.call('ZREM', list, id)
  end
end

-- Others are before it. In a list that was evicted it is missing.
local function isBehind(list, id)
  return firstThere(list) ~= id and redis.call('ZSCORE', list, id)
end

-- No earlier step of the message is parked; the server may have evicted the list of them.
local function isNextStep(steps, step)
  return (lowest(P .. 'steps:' .. steps) or math.huge) >= tonumber(step)
end

local function place(id)
  local row = redis.call('HMGET', rowKey(id), 'state', 'nextAt', 'handler', 'steps', 'step', 'independent', 'scope', 'sequence')
  if not row[1] then return end
  local due, past = P .. 'due:' .. row[3], P .. 'due-past-dead:' .. row[3]
  local member = dueMember(row[8], id)
  redis.call('ZREM', due, member)
  redis.call('ZREM', past, member)
  if row[1] ~= 'waiting' then return end
  if row[6] ~= '1' and not isNextStep(row[4], row[5]) then return end
  if row[7] then
    if isBehind(P .. 'scope-waiting:' .. row[7], id) then return end
    if isBehind(P .. 'scope:' .. row[7], id) then
      redis.call('ZADD', past, row[2], member)
      return
    end
  end
  redis.call('ZADD', due, row[2], member)
end

-- The head of a scope may have changed: the new one and the one that was it.
local function placeScope(scope)
  if not scope then return end
  firstThere(P .. 'scope-waiting:' .. scope)
  for _, id in ipairs(redis.call('ZRANGE', P .. 'scope-waiting:' .. scope, 0, 1)) do place(id) end
end

-- Other steps of a message wait for the lowest one, so only a new lowest one matters to them.
local function placeSteps(steps, before)
  local after = lowest(steps)
  if before == after then return end
  for _, step in ipairs({ before or after, after or before }) do
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', steps, step, step)) do place(id) end
  end
end

local function park(id, scope, steps, step, dueAt, fields)
  if redis.call('EXISTS', rowKey(id)) == 1 then return end
  -- It begins with the time, so that a message parked again has no revision of its earlier row.
  local firstRevision = string.format('%.0f', clock[1] * 1000000 + clock[2])
  local sequence = redis.call('INCR', P .. 'parked-sequence')
  redis.call('HSET', rowKey(id), 'sequence', sequence, 'revision', firstRevision, 'begun', 0, 'parkedAt', now, 'changedAt', now,
    'nextAt', dueAt, 'steps', steps, 'step', step, unpack(fields))
  if scope ~= '' then redis.call('HSET', rowKey(id), 'scope', scope) end
  local state = redis.call('HGET', rowKey(id), 'state')
  local redrive = redis.call('HGET', rowKey(id), 'redrive')
  if redrive then redis.call('ZADD', P .. 'redrive:' .. redrive, sequence, id) end
  redis.call('ZADD', P .. 'parked-all', sequence, id)
  if state == 'dead' then redis.call('ZADD', P .. 'parked-dead', sequence, id) end
  local before = lowest(P .. 'steps:' .. steps)
  redis.call('ZADD', P .. 'steps:' .. steps, step, id)
  if scope ~= '' then
    redis.call('ZADD', P .. 'scope:' .. scope, sequence, id)
    if state == 'waiting' then redis.call('ZADD', P .. 'scope-waiting:' .. scope, sequence, id) end
    -- What the server has evicted must not hold up a key that goes on: its first one may be in no other list.
    placeScope(scope)
  end
  place(id)
  if before then placeSteps(P .. 'steps:' .. steps, before) end
end

local function removeRow(id)
  local row = redis.call('HMGET', rowKey(id), 'handler', 'steps', 'scope', 'sequence', 'redrive')
  if not row[1] then return end
  if row[5] then redis.call('ZREM', P .. 'redrive:' .. row[5], id) end
  local member = dueMember(row[4], id)
  redis.call('DEL', rowKey(id))
  redis.call('ZREM', P .. 'parked-all', id)
  redis.call('ZREM', P .. 'parked-dead', id)
  redis.call('ZREM', P .. 'due:' .. row[1], member)
  redis.call('ZREM', P .. 'due-past-dead:' .. row[1], member)
  local steps = P .. 'steps:' .. row[2]
  local before = lowest(steps)
  redis.call('ZREM', steps, id)
  if lowest(steps) then placeSteps(steps, before) end
  if row[3] then
    redis.call('ZREM', P .. 'scope:' .. row[3], id)
    redis.call('ZREM', P .. 'scope-waiting:' .. row[3], id)
    placeScope(row[3])
  end
end

local function changeRow(id, state, delay, attempts, reason, errors, shape, step)
  local key = rowKey(id)
  local row = redis.call('HMGET', key, 'scope', 'sequence', 'steps')
  if not row[2] then return end
  redis.call('HSET', key, 'state', state, 'begun', 0, 'changedAt', now, 'nextAt', now + delay, 'attempts', attempts,
    'reason', reason, 'errors', errors, 'shape', shape)
  redis.call('HINCRBY', key, 'revision', 1)
  if state == 'dead' then redis.call('ZADD', P .. 'parked-dead', row[2], id)
  else redis.call('ZREM', P .. 'parked-dead', id) end
  if row[1] then
    if state == 'waiting' then redis.call('ZADD', P .. 'scope-waiting:' .. row[1], row[2], id)
    else redis.call('ZREM', P .. 'scope-waiting:' .. row[1], id) end
  end
  if step and step ~= '' then
    local steps = P .. 'steps:' .. row[3]
    local before = lowest(steps)
    redis.call('HSET', key, 'step', step)
    redis.call('ZADD', steps, step, id)
    placeSteps(steps, before)
  end
  place(id)
  placeScope(row[1])
end

local edits = {}
function edits.remove(id) removeRow(id) end
function edits.mark(id, redrive)
  local row = redis.call('HMGET', rowKey(id), 'sequence', 'redrive')
  if not row[1] then return end
  if row[2] then redis.call('ZREM', P .. 'redrive:' .. row[2], id) end
  redis.call('HSET', rowKey(id), 'redrive', redrive, 'released', 0)
  redis.call('ZADD', P .. 'redrive:' .. redrive, row[1], id)
end
function edits.release(id)
  local row = redis.call('HMGET', rowKey(id), 'reason', 'errors', 'shape')
  if not row[1] then return end
  changeRow(id, 'waiting', 0, 0, row[1], row[2], row[3])
  redis.call('HSET', rowKey(id), 'released', 1)
end
function edits.replace(id, envelope, body)
  local row = redis.call('HMGET', rowKey(id), 'body', 'originalBody')
  if not row[1] then return end
  redis.call('HSET', rowKey(id), 'envelope', envelope, 'body', body, 'originalBody', row[2] or row[1])
  redis.call('HINCRBY', rowKey(id), 'revision', 1)
end
`

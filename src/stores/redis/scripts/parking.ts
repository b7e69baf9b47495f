import { script } from '../connection.ts'
import { repeatingLua } from '../question.ts'
import { holdersLua, preludeLua, rowsLua } from './shared.ts'

const pairsOf = `
local function each(from, act)
  for i = from, #ARGV, 2 do act(ARGV[i], ARGV[i + 1]) end
end
`

const reserveLua = `
-- Without those that another process has changed since.
local function rowsOf(reserved)
  local rows = {}
  for _, row in ipairs(reserved) do
    local key = rowKey(row.id)
    if redis.call('HGET', key, 'revision') == row.revision then rows[#rows + 1] = redis.call('HGETALL', key) end
  end
  return rows
end
local function reserve(ids, forMs, maxBytes)
  local reserved, bytes = {}, 0
  for _, id in ipairs(ids) do
    if bytes >= maxBytes then break end
    local key = rowKey(id)
    bytes = bytes + redis.call('HSTRLEN', key, 'body') + redis.call('HSTRLEN', key, 'envelope')
    local revision = nextRevision(id)
    redis.call('HSET', key, 'nextAt', now + forMs)
    place(id)
    reserved[#reserved + 1] = { id = id, revision = revision }
  end
  if #reserved > 0 then remember(reserved) end
  return rowsOf(reserved)
end
local before = answeredBefore()
if before then return rowsOf(before) end
`

/**
 * Arguments: limit, for how long, how many bytes, how many are wanted, pairs of handler and type (after an equals sign, or
 * nothing for all), then the handlers that go past dead letters. Returns rows.
 */
export const reserveScript = script(
  preludeLua,
  rowsLua,
  holdersLua,
  repeatingLua,
  reserveLua,
  `
local limit = tonumber(ARGV[2])
local found, lost, wanted = {}, {}, {}
local pastDead = 6 + 2 * tonumber(ARGV[5])
for i = 6, pastDead - 1, 2 do
  wanted[ARGV[i]] = wanted[ARGV[i]] or {}
  wanted[ARGV[i]][ARGV[i + 1]] = true
end
local function look(list, handler)
  local zset, types = P .. list .. handler, wanted[handler]
  if not types then return end
  local offset, taken = 0, 0
  while taken < limit do
    local page = redis.call('ZRANGEBYSCORE', zset, '-inf', now, 'WITHSCORES', 'LIMIT', offset, limit)
    if #page == 0 then return end
    for i = 1, #page, 2 do
      local id = string.sub(page[i], 17)
      if redis.call('EXISTS', rowKey(id)) == 0 then
        lost[#lost + 1] = { zset = zset, member = page[i], id = id }
      elseif taken < limit and (types[''] or types['=' .. redis.call('HGET', rowKey(id), 'type')])
        and not isLocked(id) then
        found[#found + 1] = { id = id, at = tonumber(page[i + 1]), member = page[i] }
        taken = taken + 1
      end
    end
    offset = offset + limit
  end
end
for handler in pairs(wanted) do look('due:', handler) end
for i = pastDead, #ARGV do look('due-past-dead:', ARGV[i]) end
-- Rows that the server has evicted must not take the place of others.
for _, row in ipairs(lost) do
  redis.call('ZREM', row.zset, row.member)
  redis.call('ZREM', P .. 'parked-all', row.id)
end
table.sort(found, function(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.member < b.member
end)
local ids = {}
for i = 1, math.min(limit, #found) do ids[i] = found[i].id end
return reserve(ids, tonumber(ARGV[3]), tonumber(ARGV[4]))
`,
)

/** Arguments: row, revision, limit, for how long, how many bytes, whether it goes past dead letters. Returns rows. */
export const reserveBehindScript = script(
  preludeLua,
  rowsLua,
  holdersLua,
  repeatingLua,
  reserveLua,
  `
local head = redis.call('HMGET', rowKey(ARGV[2]), 'revision', 'scope', 'sequence')
if head[1] ~= ARGV[3] or not head[2] or isLocked(ARGV[2]) then return {} end
local zset = P .. (ARGV[7] == '1' and 'scope-waiting:' or 'scope:') .. head[2]
local ids = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', zset, '(' .. head[3], '+inf', 'LIMIT', 0, ARGV[4])) do
  local row = redis.call('HMGET', rowKey(id), 'state', 'nextAt', 'independent', 'steps', 'step')
  if row[1] ~= 'waiting' or tonumber(row[2]) > now or isLocked(id) then break end
  if row[3] ~= '1' and not isNextStep(row[4], row[5]) then break end
  ids[#ids + 1] = id
end
return reserve(ids, tonumber(ARGV[5]), tonumber(ARGV[6]))
`,
)

/** Arguments: for how long, then row, revision and how many have begun of each. Returns their revisions, 0 if not ours. */
export const rebookScript = script(
  preludeLua,
  rowsLua,
  holdersLua,
  repeatingLua,
  `
local before = answeredBefore()
if before then return before end
local answers = {}
for i = 3, #ARGV, 3 do
  local id, key = ARGV[i], rowKey(ARGV[i])
  local isOurs = redis.call('HGET', key, 'revision') == ARGV[i + 1]
    and not isLocked(id)
  if isOurs then
    redis.call('HSET', key, 'begun', ARGV[i + 2], 'nextAt', now + tonumber(ARGV[2]))
    answers[#answers + 1] = nextRevision(id)
    place(id)
  else
    answers[#answers + 1] = 0
  end
end
return remember(answers)
`,
)

/** Arguments: token, lease, then pairs of row and revision. Returns 1 for each that is ours now, 0 for the others. */
export const takeScript = script(
  preludeLua,
  holdersLua,
  pairsOf,
  `
local answers = {}
each(4, function(id, revision)
  local lock = P .. 'lock:row:' .. id
  local holder = holderOf(lock)
  local free = not holder or holder == ARGV[2]
  local ours = free and redis.call('HGET', P .. 'parked:' .. id, 'revision') == revision
  if ours then redis.call('SET', lock, ARGV[2], 'PX', ARGV[3]) end
  answers[#answers + 1] = ours and 1 or 0
end)
return answers
`,
)

/**
 * Arguments: token, lease, how many rows to name, then pairs of scope and whether it goes past dead letters. Locks the
 * scopes in order up to the first that another transaction holds, and returns the first rows of each locked one.
 */
export const blockedScript = script(
  preludeLua,
  rowsLua,
  holdersLua,
  `
local answers = {}
for i = 5, #ARGV, 2 do
  local lock = P .. 'lock:scope:' .. ARGV[i]
  local holder = holderOf(lock)
  if holder and holder ~= ARGV[2] then break end
  redis.call('SET', lock, ARGV[2], 'PX', ARGV[3])
  local zset = P .. (ARGV[i + 1] == '1' and 'scope-waiting:' or 'scope:') .. ARGV[i]
  firstThere(zset)
  answers[#answers + 1] = redis.call('ZRANGE', zset, 0, ARGV[4] - 1)
end
return answers
`,
)

/**
 * Arguments: which list, after which position, how many, then names of fields. Returns where the next page begins (nothing
 * after the last one), and the values, row by row. The server may have evicted all rows of a page.
 */
export const scanScript = script(
  `
local listed = redis.call('ZRANGEBYSCORE', ARGV[1] .. ARGV[2], '(' .. ARGV[3], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[4])
local rows = {}
for i = 1, #listed, 2 do
  rows[#rows + 1] = redis.call('HMGET', ARGV[1] .. 'parked:' .. listed[i], unpack(ARGV, 5))
end
return { #rows == tonumber(ARGV[4]) and listed[#listed] or false, rows }
`,
)

/** Arguments: how many fields, their names, then rows. Returns their values, row by row. */
export const fieldsScript = script(
  `
local last = 2 + tonumber(ARGV[2])
local rows = {}
for i = last + 1, #ARGV do rows[i - last] = redis.call('HMGET', ARGV[1] .. 'parked:' .. ARGV[i], unpack(ARGV, 3, last)) end
return rows
`,
)

/** Arguments: how many bytes, then rows. Returns all their fields; an empty list for a row that is gone. */
export const rowsScript = script(
  `
local rows, bytes = {}, 0
for i = 3, #ARGV do
  if bytes >= tonumber(ARGV[2]) then break end
  local row = ARGV[1] .. 'parked:' .. ARGV[i]
  rows[i - 2] = redis.call('HGETALL', row)
  bytes = bytes + redis.call('HSTRLEN', row, 'envelope') + redis.call('HSTRLEN', row, 'body')
    + redis.call('HSTRLEN', row, 'originalBody')
end
return rows
`,
)

import { script } from '../connection.ts'
import { preludeLua, rowsLua } from './shared.ts'

const pairsOf = `
local function each(from, act)
  for i = from, #ARGV, 2 do act(ARGV[i], ARGV[i + 1]) end
end
`

/** Arguments: limit, for how long, how many handlers, these, then those of them that go past dead letters. Answers rows. */
export const reserveScript = script(
  preludeLua,
  rowsLua,
  `
local limit = tonumber(ARGV[2])
local found = {}
local function look(zset)
  local offset, taken = 0, 0
  while taken < limit do
    local page = redis.call('ZRANGEBYSCORE', zset, '-inf', now, 'WITHSCORES', 'LIMIT', offset, limit)
    if #page == 0 then return end
    for i = 1, #page, 2 do
      local id = string.sub(page[i], 17)
      if taken < limit and redis.call('EXISTS', P .. 'lock:row:' .. id) == 0 then
        found[#found + 1] = { id = id, at = tonumber(page[i + 1]), member = page[i] }
        taken = taken + 1
      end
    end
    offset = offset + limit
  end
end
local handlers = tonumber(ARGV[4])
for i = 5, 4 + handlers do look(P .. 'due:' .. ARGV[i]) end
for i = 5 + handlers, #ARGV do look(P .. 'due-past-dead:' .. ARGV[i]) end
table.sort(found, function(a, b)
  if a.at ~= b.at then return a.at < b.at end
  return a.member < b.member
end)
local rows = {}
for i = 1, math.min(limit, #found) do
  local key = rowKey(found[i].id)
  redis.call('HINCRBY', key, 'begun', 1)
  redis.call('HINCRBY', key, 'revision', 1)
  redis.call('HSET', key, 'nextAt', now + tonumber(ARGV[3]))
  place(found[i].id)
  rows[i] = redis.call('HGETALL', key)
end
return rows
`,
)

/** Arguments: pairs of row and revision. */
export const forgiveScript = script(
  preludeLua,
  rowsLua,
  pairsOf,
  `
each(2, function(id, revision)
  local row = redis.call('HMGET', rowKey(id), 'revision', 'begun')
  if row[1] ~= revision or row[2] == '0' then return end
  redis.call('HINCRBY', rowKey(id), 'begun', -1)
  redis.call('HINCRBY', rowKey(id), 'revision', 1)
  redis.call('HSET', rowKey(id), 'nextAt', now)
  place(id)
end)
`,
)

/** Arguments: token, lease, then pairs of row and revision. Answers 1 for each that is ours now, 0 for others. */
export const takeScript = script(
  preludeLua,
  pairsOf,
  `
local answers = {}
each(4, function(id, revision)
  local lock = P .. 'lock:row:' .. id
  local holder = redis.call('GET', lock)
  local free = not holder or holder == ARGV[2]
  local ours = free and redis.call('HGET', P .. 'parked:' .. id, 'revision') == revision
  if ours then redis.call('SET', lock, ARGV[2], 'PX', ARGV[3]) end
  answers[#answers + 1] = ours and 1 or 0
end)
return answers
`,
)

/**
 * Arguments: token, lease, how many rows to name, then pairs of scope and whether it goes past dead letters. Locks them in
 * order up to the first that a rival holds, and answers for each locked one the first rows in it.
 */
export const blockedScript = script(
  preludeLua,
  `
local answers = {}
for i = 5, #ARGV, 2 do
  local lock = P .. 'lock:scope:' .. ARGV[i]
  local holder = redis.call('GET', lock)
  if holder and holder ~= ARGV[2] then break end
  redis.call('SET', lock, ARGV[2], 'PX', ARGV[3])
  local zset = P .. (ARGV[i + 1] == '1' and 'scope-waiting:' or 'scope:') .. ARGV[i]
  answers[#answers + 1] = redis.call('ZRANGE', zset, 0, ARGV[4] - 1)
end
return answers
`,
)

/** Arguments: of which list, after which place, how many, then names of fields. Answers their values, row by row. */
export const scanScript = script(
  `
local ids = redis.call('ZRANGEBYSCORE', ARGV[1] .. ARGV[2], '(' .. ARGV[3], '+inf', 'LIMIT', 0, ARGV[4])
local rows = {}
for i, id in ipairs(ids) do rows[i] = redis.call('HMGET', ARGV[1] .. 'parked:' .. id, unpack(ARGV, 5)) end
return rows
`,
)

/** Arguments: rows. Answers all their fields; nothing for one that is gone. */
export const rowsScript = script(
  `
local rows = {}
for i = 2, #ARGV do rows[i - 1] = redis.call('HGETALL', ARGV[1] .. 'parked:' .. ARGV[i]) end
return rows
`,
)

/**
 * Needs the prelude. Other programs write to the same server. A key of the store that is not what the store makes of it would end
 * the commit halfway: what handlers did is applied, and their records are not. So each action names the keys that it will change,
 * and `foreignIn` returns the first that holds anything else.
 */
export const foreignLua = `
local foreign
local fine = {}
local function isWrongType(reply)
  return type(reply) == 'table' and reply.err and string.find(reply.err, 'WRONGTYPE', 1, true)
end
local holds = {}
function holds.list(key) return not isWrongType(redis.pcall('ZCARD', key)) end
function holds.fields(key) return not isWrongType(redis.pcall('HSTRLEN', key, 'x')) end
function holds.number(key)
  local value = redis.pcall('GET', key)
  if type(value) == 'string' then return #value < 19 and string.find(value, '^%d+$') end
  return not isWrongType(value)
end
local function needs(kind, ...)
  for _, name in ipairs({ ... }) do
    if foreign then return end
    if fine[name] ~= kind and not holds[kind](P .. name) then foreign = P .. name end
    fine[name] = kind
  end
end

local function needsLists(handler, steps, scope, redrive)
  needs('list', 'parked-all', 'parked-dead', 'due:' .. handler, 'due-past-dead:' .. handler, 'steps:' .. steps)
  if scope then needs('list', 'scope:' .. scope, 'scope-waiting:' .. scope) end
  if redrive then needs('list', 'redrive:' .. redrive) end
end
-- The row, if it is there.
local function needsRow(id)
  needs('fields', 'parked:' .. id)
  if foreign or redis.call('EXISTS', P .. 'parked:' .. id) == 0 then return end
  local row = redis.call('HMGET', P .. 'parked:' .. id, 'handler', 'steps', 'sequence', 'revision', 'scope', 'redrive')
  local isRow = row[1] and row[2] and tonumber(row[3]) and string.find(row[4] or '', '^%d+$')
  if not isRow then foreign = P .. 'parked:' .. id
  else needsLists(row[1], row[2], row[5], row[6]) end
  return row[2], row[5]
end
-- Those that may come to the head when another row changes.
local function needsNeighbours(steps, scope)
  local lists = { steps and 'steps:' .. steps, scope and 'scope-waiting:' .. scope, scope and 'scope:' .. scope }
  for i = 1, 3 do
    if lists[i] and not foreign then
      for _, id in ipairs(redis.call('ZRANGE', P .. lists[i], 0, i == 1 and -1 or 2)) do needsRow(id) end
    end
  end
end
local function needsQueue(queue, lane)
  for _, kind in ipairs({ 'all', 'ready', 'later' }) do needs('list', 'queue-' .. kind .. ':' .. queue) end
  needs('list', 'queues')
  if lane then needs('list', 'queue-lane:' .. lane) end
end
local function needsFact(name)
  needs('fields', 'facts')
  needs('list', 'facts-expiring', 'facts-of:' .. string.match(name, '^[^ ]*'))
end

local touches = {}
function touches.park(a)
  local fields = {}
  for i = 7, #a, 2 do fields[a[i]] = a[i + 1] end
  local scope = a[2] ~= '' and a[2] or nil
  needs('number', 'parked-sequence')
  needsRow(a[1])
  needsLists(fields.handler, a[3], scope, fields.redrive)
  needsNeighbours(a[3], scope)
end
function touches.change(a) needsNeighbours(needsRow(a[2])) end
function touches.edit(a)
  needsNeighbours(needsRow(a[1]))
  if a[2] == 'mark' then needs('list', 'redrive:' .. a[3]) end
end
function touches.epoch() needs('number', 'epochs') end
function touches.fact(a) needsFact(a[1]) end
function touches.removeFacts(a)
  for _, name in ipairs(a) do needsFact(name) end
end
function touches.send(a)
  needs('number', 'queue-sequence')
  needsQueue(a[1], a[5])
end
function touches.remove(a)
  needsQueue(a[1], string.match(a[2], ':(.+)$'))
  needs('fields', 'queued:' .. a[2])
end
touches.expect = touches.remove

local function foreignIn(kind, a)
  if touches[kind] then touches[kind](a) end
  return foreign
end
`

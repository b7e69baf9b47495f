import { stateLetters } from '../../shared/state-letters.ts'
import { script } from '../connection.ts'
import { partlyLetter, recordPattern } from '../record-value.ts'
import { keepFactLua } from './facts.ts'
import { foreignLua } from './foreign.ts'
import { queueLua } from './queue-rows.ts'
import { deniedLua } from './rights.ts'
import { preludeLua, recordLua, rowsLua } from './shared.ts'

/**
 * Everything a transaction does, in one step. Arguments: token; the time for error histories; how many claims, then five for
 * each: name, letter of the state (empty: released), life, the rest of the record, the group it belongs to; how many locks,
 * then their names; then the actions, each as its kind, the number of its arguments, and these.
 *
 * Nothing is written before it is checked that every claim, lock and row of a queue is ours, that every command is allowed,
 * that every changed key holds what the store has put there, and that every fact is as it was seen. After that, a failing
 * command cannot roll back those before it: the records of its group are marked, so that nobody runs their messages again.
 */
export const commitScript = script(
  preludeLua,
  recordLua,
  rowsLua,
  queueLua,
  foreignLua,
  keepFactLua,
  deniedLua,
  `
local token = ARGV[2]
local marker = P .. 'committed:' .. token
-- A client that lost the connection may send the same commit again: it gets the same answer.
local answered = redis.call('GET', marker)
if answered then return cjson.decode(answered) end

local claims = tonumber(ARGV[4])
local locksAt = 5 + claims * 5
local locks = tonumber(ARGV[locksAt])
for i = 5, locksAt - 1, 5 do
  if recordAt(P .. 'inbox:' .. ARGV[i]) ~= 'C' .. token then return { 'lost', ARGV[i] } end
end
for i = locksAt + 1, locksAt + locks do
  if redis.call('GET', P .. 'lock:' .. ARGV[i]) ~= token then return { 'lost', ARGV[i] } end
end
local firstAction = locksAt + locks + 1
local missing = denied(own)[1]
if missing then return redis.error_reply('NOPERM the store may not call ' .. missing) end
local at = firstAction
while at <= #ARGV do
  local last = at + 1 + tonumber(ARGV[at + 1])
  local other = ARGV[at] ~= 'command' and foreignIn(ARGV[at], { unpack(ARGV, at + 2, last) })
  if other then return { 'unreadable', other } end
  if ARGV[at] == 'command' and #denied({ { unpack(ARGV, at + 3, last) } }) > 0 then return { 'denied', ARGV[at + 3] } end
  if ARGV[at] == 'update' then
    local key = P .. 'inbox:' .. ARGV[at + 3]
    local value = recordAt(key)
    if value and string.sub(value, 1, 1) ~= 'C' and not string.find(value, '${recordPattern}') then return { 'unreadable', key } end
  end
  local still = ARGV[at] == 'remove' and ARGV[at + 4] or ARGV[at] == 'expect' and 'there' or ''
  if still == 'there' and not isQueued(ARGV[at + 2], ARGV[at + 3]) then return { 'gone', ARGV[at + 2] } end
  if still ~= '' and still ~= 'there' and not isStillTaken(ARGV[at + 2], ARGV[at + 3], still) then
    return { 'lost', ARGV[at + 3] }
  end
  if ARGV[at] == 'fact' and (redis.call('HGET', facts, ARGV[at + 2]) or '') ~= ARGV[at + 3] then
    return { 'lost', ARGV[at + 2] }
  end
  at = last + 1
end
local function answer(...)
  redis.call('SET', marker, cjson.encode({ ... }), 'PX', 60000)
  return { ... }
end
-- Before anything else is written: where memory is full, this is what is refused.
answer('committed')

local partly = {}
local failures = {}
local function keep(key, value, life)
  if life == '0' then redis.call('SET', key, value) else redis.call('SET', key, value, 'PX', life) end
end
-- Added as text: a history may hold what Lua cannot read and write back.
local function historyWith(message, errors)
  local note = cjson.encode({ at = ARGV[3], message = message })
  if errors == '' or errors == '[]' then return '[' .. note .. ']' end
  return string.sub(errors, 1, -2) .. ',' .. note .. ']'
end

local does = {}
function does.command(a)
  local reply = redis.pcall(unpack(a, 2))
  if type(reply) == 'table' and reply.err then
    partly[a[1]] = partly[a[1]] or (tostring(a[2]) .. ': ' .. reply.err)
    failures[#failures + 1] = a[1]
    failures[#failures + 1] = tostring(a[2]) .. ': ' .. reply.err
  end
end
function does.update(a)
  local key = P .. 'inbox:' .. a[2]
  local value = recordAt(key)
  if partly[a[1]] or not value or string.sub(value, 1, 1) == 'C' then return end
  keep(key, a[3] .. now .. ' ' .. string.match(value, '^%l%d+ (%S+)') .. a[5], a[4])
end
function does.epoch()
  redis.call('SET', P .. 'epoch', clock[1] .. clock[2] .. ':' .. redis.call('INCR', P .. 'epochs'))
end
function does.forget(a)
  local key = P .. 'inbox:' .. a[1]
  local letter = string.sub(recordAt(key) or 'C', 1, 1)
  if letter == 'C' or letter == '${stateLetters.parked}' then return end
  redis.call('DEL', key)
end
function does.park(a)
  park(a[1], a[2], a[3], tonumber(a[4]), tonumber(a[6]) or now + tonumber(a[5]), { unpack(a, 7) })
end
function does.change(a)
  local id = a[2]
  if partly[a[1]] then
    local row = redis.call('HMGET', rowKey(id), 'attempts', 'errors')
    if row[1] then
      changeRow(id, 'dead', 0, row[1] + 1, 'PARTLY_APPLIED', historyWith(partly[a[1]], row[2]), partly[a[1]])
    end
  elseif a[3] == 'done' then
    -- A row of no group is replaced by the records of its handlers. If one of them has failed, it stays, as in a queue.
    if a[1] ~= '0' or #failures == 0 then removeRow(id) end
  else
    changeRow(id, a[3], tonumber(a[4]), unpack(a, 5))
  end
end
function does.edit(a) edits[a[2]](a[1], unpack(a, 3)) end
function does.removeFacts(a)
  for _, name in ipairs(a) do removeFact(name) end
end
function does.fact(a) keepFact(a[1], a[3], tonumber(a[4]), tonumber(a[5]), a[6]) end
function does.send(a) sendQueued(unpack(a)) end
local removals = {}
function does.expect() end
function does.remove(a) removals[#removals + 1] = a end

at = firstAction
while at <= #ARGV do
  local count = tonumber(ARGV[at + 1])
  does[ARGV[at]]({ unpack(ARGV, at + 2, at + 1 + count) })
  at = at + 2 + count
end
-- If a command has failed, they stay: they are delivered again and find the marks, even if this process dies before that.
if #failures == 0 then
  for _, each in ipairs(removals) do removeQueued(each[1], each[2]) end
end

for i = 5, locksAt - 1, 5 do
  local key = P .. 'inbox:' .. ARGV[i]
  if partly[ARGV[i + 4]] then redis.call('SET', key, '${partlyLetter}' .. now .. ' ' .. string.match(ARGV[i + 3], '^ (%S+)'))
  elseif ARGV[i + 1] == '' then redis.call('DEL', key)
  else keep(key, ARGV[i + 1] .. now .. ARGV[i + 3], ARGV[i + 2]) end
end
for i = locksAt + 1, locksAt + locks do redis.call('DEL', P .. 'lock:' .. ARGV[i]) end
if #failures > 0 then return answer('partly', unpack(failures, 1, math.min(#failures, 200))) end
return { 'committed' }
`,
)

import { script } from '../connection.ts'
import { repeatingLua } from '../question.ts'
import { preludeLua } from './shared.ts'

/**
 * A fact is a field of one hash: revision, how long it stands and when it expires (both 0: never), and the value. Those that expire
 * are also in a sorted set by that time, and those of a kind in one by their revision.
 */
export const keepFactLua = `
local facts, expiring = P .. 'facts', P .. 'facts-expiring'
local function ofKind(name) return P .. 'facts-of:' .. string.match(name, '^[^ ]*') end
local function keepFact(name, revision, forMs, expiresAt, value)
  redis.call('HSET', facts, name, string.format('%s %.0f %.0f %s', revision, forMs, expiresAt, value))
  redis.call('ZADD', ofKind(name), revision, name)
  if expiresAt == 0 then redis.call('ZREM', expiring, name) else redis.call('ZADD', expiring, expiresAt, name) end
end
local function removeFact(name)
  redis.call('HDEL', facts, name)
  redis.call('ZREM', expiring, name)
  redis.call('ZREM', ofKind(name), name)
end
`

const factLua = `${keepFactLua}
local function factOf(name)
  local kept = redis.call('HGET', facts, name)
  if not kept then return nil end
  local revision, forMs, expiresAt, value = string.match(kept, '^(%d+) (%d+) (%d+) (.*)$')
  return { revision = revision, forMs = tonumber(forMs), expiresAt = tonumber(expiresAt), value = value }
end
local function stands(fact) return fact and (fact.expiresAt == 0 or fact.expiresAt > now) end
`

/** Arguments: names. Returns the revision and the value of each, or two nulls if it does not exist. */
export const readFactsScript = script(
  preludeLua,
  factLua,
  `
local answers = {}
for i = 2, #ARGV do
  local fact = factOf(ARGV[i])
  local there = stands(fact)
  answers[#answers + 1] = there and fact.revision or false
  answers[#answers + 1] = there and fact.value or false
end
return answers
`,
)

/**
 * Arguments, for each fact: name, expected revision or nothing, value, and how long it lasts or nothing. Returns the
 * revision of each that was changed, or 0.
 */
export const changeFactsScript = script(
  preludeLua,
  repeatingLua,
  factLua,
  `
local before = answeredBefore()
if before then return before end
local micros = clock[1] * 1000000 + clock[2]
local answers = {}
for i = 2, #ARGV, 4 do
  local name, from, value, forMs = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]) or -1
  local fact = factOf(name)
  local there = stands(fact)
  local isExpected = not there
  if from ~= '' then isExpected = there and fact.revision == from end
  if isExpected then
    local revision = fact and fact.revision
    if not there or fact.value ~= value then
      revision = string.format('%.0f', math.max(tonumber(revision or 0) + 1, micros))
    end
    if forMs < 0 then keepFact(name, revision, 0, 0, value) else keepFact(name, revision, forMs, now + forMs, value) end
    answers[#answers + 1] = revision
  else
    -- None lasts longer than its forMs from now, unless the clock was ahead when it was made.
    if there and fact.expiresAt > now + fact.forMs then keepFact(name, fact.revision, fact.forMs, now + fact.forMs, fact.value) end
    answers[#answers + 1] = '0'
  end
end
return remember(answers)
`,
)

/** Arguments: names. Returns the time, then each fact as it is stored. */
export const lookAtFactsScript = script(
  preludeLua,
  `
local answers = { string.format('%.0f', now) }
for i = 2, #ARGV do answers[i] = redis.call('HGET', P .. 'facts', ARGV[i]) end
return answers
`,
)

/** Arguments: kind, limit. Returns the name, the revision and the value of each. */
export const listFactsScript = script(
  preludeLua,
  factLua,
  `
local answers, limit, offset = {}, tonumber(ARGV[3]), 0
while #answers < 3 * limit do
  local names = redis.call('ZREVRANGE', P .. 'facts-of:' .. ARGV[2], offset, offset + limit - 1)
  for _, name in ipairs(names) do
    local fact = factOf(name)
    if #answers < 3 * limit and stands(fact) then
      for _, each in ipairs({ name, fact.revision, fact.value }) do answers[#answers + 1] = each end
    end
  end
  if #names < limit then break end
  offset = offset + limit
end
return answers
`,
)

/** Arguments: names. */
export const removeFactsScript = script(preludeLua, keepFactLua, 'for i = 2, #ARGV do removeFact(ARGV[i]) end')

/** Arguments: the kind. */
export const sweepFactsScript = script(
  preludeLua,
  factLua,
  `
for _, name in ipairs(redis.call('ZRANGEBYSCORE', expiring, '-inf', now)) do
  if ofKind(name) == P .. 'facts-of:' .. ARGV[2] then removeFact(name) end
end
`,
)

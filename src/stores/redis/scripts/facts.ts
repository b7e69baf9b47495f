import { script } from '../connection.ts'
import { repeatingLua } from '../question.ts'
import { preludeLua } from './shared.ts'

/**
 * A fact is a field of one hash: revision, how long it was to stand and when it ends (both 0: never), and the value. Those that
 * end are also in a sorted set, by when.
 */
const factLua = `
local key, ends = P .. 'facts', P .. 'facts-ending'
local function factOf(name)
  local kept = redis.call('HGET', key, name)
  if not kept then return nil end
  local revision, length, endsAt, value = string.match(kept, '^(%d+) (%d+) (%d+) (.*)$')
  return { revision = revision, length = tonumber(length), endsAt = tonumber(endsAt), value = value }
end
local function stands(fact) return fact and (fact.endsAt == 0 or fact.endsAt > now) end
local function keep(name, revision, length, endsAt, value)
  redis.call('HSET', key, name, string.format('%s %.0f %.0f %s', revision, length, endsAt, value))
  if endsAt == 0 then redis.call('ZREM', ends, name) else redis.call('ZADD', ends, endsAt, name) end
end
`

/** Arguments: names. Answers revision and value of each; nothing twice for one that is not there. */
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
 * Arguments: name, expected revision or nothing, value, and how long it stands or nothing; of each. Answers the revision of each
 * that was changed, or 0.
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
  local name, from, value, length = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3]) or -1
  local fact = factOf(name)
  local there = stands(fact)
  local isExpected = not there
  if from ~= '' then isExpected = there and fact.revision == from end
  if isExpected then
    local revision = fact and fact.revision
    if not there or fact.value ~= value then
      revision = string.format('%.0f', math.max(tonumber(revision or 0) + 1, micros))
    end
    if length < 0 then keep(name, revision, 0, 0, value) else keep(name, revision, length, now + length, value) end
    answers[#answers + 1] = revision
  else
    -- None ends later than its length from now, unless the clock was ahead when it was made.
    if there and fact.endsAt > now + fact.length then keep(name, fact.revision, fact.length, now + fact.length, fact.value) end
    answers[#answers + 1] = '0'
  end
end
return remember(answers)
`,
)

/** Arguments: what their names begin with. */
export const sweepFactsScript = script(
  preludeLua,
  factLua,
  `
for _, name in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do
  if string.sub(name, 1, #ARGV[2]) == ARGV[2] then
    redis.call('HDEL', key, name)
    redis.call('ZREM', ends, name)
  end
end
`,
)

import { script } from '../connection.ts'

/** The commands that the store's scripts call, with enough arguments for the permission check. */
const commands = [
  ...['GET', 'SET x', 'MGET', 'DEL', 'EXISTS', 'INCR', 'PEXPIRE 1', 'PTTL'],
  ...['HSET x x', 'HGET x', 'HMGET x', 'HGETALL', 'HINCRBY x 1', 'HDEL x', 'HSTRLEN x'],
  ...['ZADD 1 x', 'ZREM x', 'ZCARD', 'ZCOUNT 0 0', 'ZSCORE x', 'ZRANK x', 'ZRANGE 0 0', 'ZREVRANGE 0 0'],
  ...['ZRANGEBYSCORE 0 0'],
].map((command) => {
  const [name, ...rest] = command.split(' ')
  return `{ ${[`'${name}'`, "P .. 'rights'", ...rest.map((each) => `'${each}'`)].join(', ')} }`
})

/**
 * Needs `P`. Returns the commands that the user of the connection may not call. A refusal in the middle of a script leaves
 * everything before it applied. Servers before Redis 7 cannot be asked.
 */
export const deniedLua = `
local function denied(asked)
  local names = {}
  for _, each in ipairs(asked) do
    if redis.acl_check_cmd and not redis.acl_check_cmd(unpack(each)) then names[#names + 1] = each[1] end
  end
  return names
end
local own = { ${commands.join(', ')} }
`

/** What a store sends in addition to its scripts, or may have to. */
const alsoSent = "{ 'TIME' }, { 'EVAL', 'return 0', '0' }"

/** Arguments: 1 if handlers have commands. Returns the names of the commands that the store needs and may not call. */
export const rightsScript = script(
  'local P = ARGV[1]',
  deniedLua,
  `
for _, each in ipairs({ ${alsoSent} }) do own[#own + 1] = each end
if ARGV[2] == '1' then own[#own + 1] = { 'COMMAND', 'INFO', 'GET' } end
return denied(own)
`,
)

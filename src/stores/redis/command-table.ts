import { isJustonceError, JustonceError } from '../../errors/index.ts'
import type { RedisArgument } from './client-shapes.ts'
import { type Connection, text, texts } from './connection.ts'
import { hashTagOf } from './names.ts'
import { outOfStep } from './question.ts'

interface CommandInfo {
  /** How many arguments it takes, including the name; if negative, at least that many. */
  readonly arity: number
  readonly flags: ReadonlySet<string>
  readonly keys: { readonly first: number; readonly last: number; readonly step: number }
  readonly subcommands: ReadonlyMap<string, CommandInfo>
}

const removing = new Set(['FLUSHALL', 'FLUSHDB', 'SWAPDB'])

/** The most values that Lua can pass to a command. */
const mostArguments = 7_000

/**
 * What the server says about its commands, asked once for each. So a command that cannot work is refused when it is queued,
 * instead of failing at the commit, when the commands before it have been applied.
 */
export class CommandTable {
  readonly #connection: Connection
  readonly #hashTag: string
  readonly #infos = new Map<string, Promise<CommandInfo | undefined>>()

  constructor(connection: Connection, hashTag: string) {
    this.#connection = connection
    this.#hashTag = hashTag
  }

  /** Rejects with the reason if the command may not be queued. */
  async check(args: readonly RedisArgument[]): Promise<void> {
    const name = String(args[0]).toUpperCase()
    const command = await this.#infoOf(name)
    const info = command?.subcommands.get(String(args[1]).toUpperCase()) ?? command
    const refuse = (why: string): never => {
      throw new JustonceError('STORE_CANNOT', { message: `tx.command(${JSON.stringify(name)}) ${why}.` })
    }
    if (info === undefined) return refuse('is no command of this server')
    if (info.arity >= 0 ? args.length !== info.arity : args.length < -info.arity)
      refuse(`was given ${args.length - 1} arguments, which is not how many it takes`)
    if (args.length > mostArguments) refuse(`was given more than ${mostArguments} arguments`)
    if (info.flags.has('noscript')) refuse('cannot be part of a transaction')
    if (removing.has(name)) refuse('would take the records of the store away')
    if (info.flags.has('readonly')) refuse('only reads, and nothing is sent before the commit')
    if (!info.flags.has('write') && !info.flags.has('pubsub')) refuse('writes nothing')
    const { isCluster, prefix } = this.#connection
    for (const key of await this.#keysOf(args, info, refuse)) {
      if (key.startsWith(prefix)) refuse(`uses the key ${JSON.stringify(key)}, which belongs to the store itself`)
      if (isCluster && hashTagOf(key) !== this.#hashTag)
        refuse(`uses the key ${JSON.stringify(key)}, which has not the hash tag {${this.#hashTag}} of its store`)
    }
  }

  /** Only the server knows where a command such as ZUNIONSTORE or SORT has all its keys. */
  async #keysOf(
    args: readonly RedisArgument[],
    { keys, flags }: CommandInfo,
    refuse: (why: string) => never,
  ): Promise<string[]> {
    if (flags.has('movablekeys')) {
      try {
        const reply = await this.#connection.send('COMMAND', 'GETKEYS', ...args)
        if (!Array.isArray(reply)) throw outOfStep()
        return texts(reply)
      } catch (error) {
        if (!isJustonceError(error)) return refuse(`is refused by the server: ${String(error)}`)
        // A user who may not ask gets the first keys only.
        if (error.code !== 'STORE_DENIED') throw error
      }
    }
    if (keys.first <= 0) return []
    const last = keys.last < 0 ? args.length + keys.last : keys.last
    const found: string[] = []
    for (let place = keys.first; place <= last; place += Math.max(keys.step, 1)) found.push(String(args[place]))
    return found
  }

  /** Asks once, even if a handler queues many commands at once without waiting for the first. */
  #infoOf(name: string): Promise<CommandInfo | undefined> {
    const known = this.#infos.get(name)
    if (known !== undefined) return known
    const asked = this.#ask(name)
    this.#infos.set(name, asked)
    asked.catch(() => this.#infos.delete(name))
    return asked
  }

  async #ask(name: string): Promise<CommandInfo | undefined> {
    const [reply] = (await this.#connection.send('COMMAND', 'INFO', name)) as unknown[]
    // The answer is cached, so an answer to another question must not be kept.
    if (reply !== null && !Array.isArray(reply)) throw outOfStep()
    return readInfo(reply)
  }
}

function readInfo(reply: unknown): CommandInfo | undefined {
  if (!Array.isArray(reply)) return undefined
  const [, arity, flags, first, last, step] = reply
  const subcommands = new Map<string, CommandInfo>()
  for (const each of (reply[9] as unknown[] | undefined) ?? []) {
    const info = readInfo(each)
    const name = text((each as unknown[])[0]).split('|')[1]
    if (info !== undefined && name !== undefined) subcommands.set(name.toUpperCase(), info)
  }
  return {
    arity: Number(arity),
    flags: new Set(texts([...(flags as Iterable<unknown>)])),
    keys: { first: Number(first), last: Number(last), step: Number(step) },
    subcommands,
  }
}

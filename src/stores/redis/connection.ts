import { hash } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'
import type { OpenedClient } from './client-shapes.ts'
import { asStoreError, isReply, queuedError } from './errors.ts'
import { answering, answerTo, nextQuestion } from './question.ts'

/** A Lua script, with the hash by which the server knows it. */
export interface Script {
  readonly text: string
  readonly sha: string
}

export function script(...texts: readonly string[]): Script {
  const text = texts.join('\n')
  return { text, sha: hash('sha1', text, 'hex') }
}

export type ScriptArgument = string | number | bigint | Uint8Array

/** Runs a single command as a script, so that it uses the database of the store. */
const callScript = script('return redis.call(unpack(ARGV, 2))')

/** Below the limit of what Lua passes to one command. */
const mostThings = 1_000

export interface ConnectionSettings {
  readonly database: number | undefined
  readonly commandTimeoutMs: number
}

/** The user's client with a timeout, because most clients keep commands for later while the server is unreachable. */
export class Connection {
  readonly isCluster: boolean
  /** The prefix of every key of this store. */
  readonly prefix: string
  readonly #client: OpenedClient
  readonly #timeoutMs: number
  readonly #pinned = new Map<Script, Script>()
  /** The beginning of every script. */
  #place: string | undefined
  #closed = false

  constructor(client: OpenedClient, prefix: string, { database, commandTimeoutMs }: ConnectionSettings) {
    this.#client = client
    this.isCluster = client.isCluster
    this.prefix = prefix
    this.#timeoutMs = commandTimeoutMs
    if (database !== undefined) this.#place = selecting(database)
  }

  /** For commands that do not depend on the selected database. */
  send(...args: readonly ScriptArgument[]): Promise<unknown> {
    return this.#send(args)
  }

  async #send(args: readonly ScriptArgument[]): Promise<unknown> {
    if (this.#closed) throw new JustonceError('STORE_CLOSED', { message: 'The Redis store is closed.' })
    const texts = args.map((each) => (typeof each === 'object' ? each : String(each)))
    let reply: unknown
    try {
      reply = await this.#inTime(this.#client.send(this.prefix, texts), String(args[0]))
    } catch (error) {
      throw asStoreError(error)
    }
    if (isQueued(reply)) throw queuedError(String(args[0]))
    return reply
  }

  /** Runs one command in the database of the store. */
  call(...args: readonly ScriptArgument[]): Promise<unknown> {
    return this.run(callScript, ...args)
  }

  /** Runs one command with any number of arguments at its end, for each of which it returns one value. */
  async callEach(head: readonly string[], things: readonly string[]): Promise<unknown[]> {
    const replies: unknown[] = []
    for (let from = 0; from < things.length; from += mostThings)
      replies.push(...((await this.call(...head, ...things.slice(from, from + mostThings))) as unknown[]))
    return replies
  }

  /**
   * The first argument of a script is always the prefix of the keys. The declared keys only show a cluster where to go, and
   * which question is asked.
   */
  run(script: Script, ...args: readonly ScriptArgument[]): Promise<unknown> {
    return this.runWith(script, args)
  }

  /** Like `run`, for any number of arguments: a call in JavaScript takes about a hundred thousand. */
  async runWith(script: Script, args: readonly ScriptArgument[]): Promise<unknown> {
    const { sha, text } = this.#pinned.get(script) ?? (await this.#pin(script))
    const question = nextQuestion(this.prefix)
    const given = [2, this.prefix, question, this.prefix, ...args]
    try {
      return answerTo(question, await this.#send(['EVALSHA', sha, ...given]))
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error
      return answerTo(question, await this.#send(['EVAL', text, ...given]))
    }
  }

  close(): void {
    this.#closed = true
  }

  /**
   * If records were looked up in the wrong database, they would not be found, and everything would run again. Another user
   * of the connection may have selected another database, so each script selects that of the store, until the script ends.
   * In a cluster it makes sure that all keys of the slot are on this node.
   */
  async #pin(unpinned: Script): Promise<Script> {
    this.#place ??= this.isCluster ? wholeSlot : selecting(await this.#learnDatabase(), whereItIs)
    const pinned = script(this.#place, answering(unpinned.text))
    this.#pinned.set(unpinned, pinned)
    return pinned
  }

  async #learnDatabase(): Promise<number> {
    const configured = this.#client.database
    const current = await this.#currentDatabase()
    if (configured !== undefined && current !== undefined && configured !== current)
      throw new JustonceError('OPTION_INVALID', {
        message: `The client was made for database ${configured}, but its connection is in ${current} now. Say which is meant: database: ${current}.`,
      })
    return current ?? configured ?? 0
  }

  /** `undefined` if the server does not say. */
  async #currentDatabase(): Promise<number | undefined> {
    try {
      const found = / db=(\d+)/.exec(text(await this.send('CLIENT', 'INFO')))?.[1]
      return found === undefined ? undefined : Number(found)
    } catch (error) {
      if (error instanceof JustonceError && error.code !== 'STORE_DENIED') throw error
      return undefined
    }
  }

  async #inTime<T>(answer: Promise<T>, what: string): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => reject(new Error(`no answer to ${what} within ${this.#timeoutMs} ms`))
    // Waits one more turn: if this process itself was busy, the answer may already have arrived.
    const timer = setTimeout(() => setImmediate(giveUp), this.#timeoutMs)
    try {
      return await Promise.race([answer, promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A user who may not call SELECT cannot have left the database in which the connection was made. */
const whereItIs = ["can't run this command", 'ACL failure in script']
  .map((text) => `and not string.find(selected.err, "${text}", 1, true)`)
  .join(' ')

function selecting(database: number, unless = ''): string {
  return `local selected = redis.pcall('SELECT', ${database})
if selected.err ${unless} then return selected end`
}

/**
 * While a slot migrates, its keys are on two nodes, and the new node answers as if those that have not arrived yet did not
 * exist. A command with two missing keys makes either node refuse, and these keys are always missing.
 */
const wholeSlot = "redis.call('EXISTS', ARGV[1] .. 'never', ARGV[1] .. 'there')"

/** The server's reply to every command while a MULTI is open on the connection. */
function isQueued(reply: unknown): boolean {
  if (typeof reply === 'string') return reply === 'QUEUED'
  return reply instanceof Uint8Array && text(reply) === 'QUEUED'
}

/** A reply as text, even from a client that returns bytes. */
export function text(reply: unknown): string {
  return typeof reply === 'string' ? reply : String(reply)
}

export function texts(reply: unknown): string[] {
  return (reply as unknown[]).map(text)
}

import { hash } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'
import type { OpenedClient } from './client-shapes.ts'
import { asStoreError, isReply } from './errors.ts'

/** A Lua script with the hash that the server knows it by. */
export interface Script {
  readonly text: string
  readonly sha: string
}

export function script(...texts: readonly string[]): Script {
  const text = texts.join('\n')
  return { text, sha: hash('sha1', text, 'hex') }
}

export type ScriptArgument = string | number | Uint8Array

/** The user's client with a limit to its patience: most of them keep commands for later while the server is away. */
export class Connection {
  readonly isCluster: boolean
  /** Begins the name of every key of this store. */
  readonly prefix: string
  readonly #client: OpenedClient
  readonly #timeoutMs: number
  #closed = false

  constructor(client: OpenedClient, prefix: string, timeoutMs: number) {
    this.#client = client
    this.isCluster = client.isCluster
    this.prefix = prefix
    this.#timeoutMs = timeoutMs
  }

  async send(...args: readonly ScriptArgument[]): Promise<unknown> {
    if (this.#closed) throw new JustonceError('STORE_CLOSED', { message: 'The Redis store is closed.' })
    const texts = args.map((each) => (typeof each === 'number' ? String(each) : each))
    try {
      return await this.#inTime(this.#client.send(this.prefix, texts), String(args[0]))
    } catch (error) {
      throw asStoreError(error)
    }
  }

  /** Its first argument is always the prefix of the keys; the one declared key only tells a cluster where to go. */
  async run({ sha, text }: Script, ...args: readonly ScriptArgument[]): Promise<unknown> {
    try {
      return await this.send('EVALSHA', sha, 1, this.prefix, this.prefix, ...args)
    } catch (error) {
      if (!isReply(error, 'NOSCRIPT')) throw error
      return await this.send('EVAL', text, 1, this.prefix, this.prefix, ...args)
    }
  }

  close(): void {
    this.#closed = true
  }

  async #inTime<T>(answer: Promise<T>, what: string): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>()
    const giveUp = (): void => reject(new Error(`no answer to ${what} within ${this.#timeoutMs} ms`))
    // One more turn: where this process itself was busy, the answer may have been waiting for it.
    const timer = setTimeout(() => setImmediate(giveUp), this.#timeoutMs)
    try {
      return await Promise.race([answer, promise])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** A reply as text, also from a client that answers in bytes. */
export function text(reply: unknown): string {
  return typeof reply === 'string' ? reply : String(reply)
}

export function texts(reply: unknown): string[] {
  return (reply as unknown[]).map(text)
}

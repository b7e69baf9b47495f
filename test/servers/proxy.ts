import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { atAddress, freePort, localhost } from './address.ts'
import { type Connection, type ConnectionRules, joinSockets } from './proxy-connection.ts'
import { type Pattern, toRegExp } from './stream-search.ts'

export interface FaultProxy {
  readonly host: string
  readonly port: number
  /** The same URL, but through this proxy. */
  url(original: string): string
  /** Breaks every open connection, as a dying router would. */
  cutAll(): void
  /**
   * Breaks the next connection on which the client sends the pattern, once. Resolves when it is broken.
   * `before`: the server never gets it. `after-forward`: the server gets it and answers, and the client never learns.
   * The first answer counts; for a client that sends several requests at once, name the answer to wait for.
   */
  cutWhenClientSends(pattern: Pattern, when: CutMoment, options?: { answer?: Pattern }): Promise<void>
  /** Nothing gets through in either direction, and nobody notices: a stalled network. */
  pause(): void
  resume(): void
  /** Every piece of data takes this much longer, in either direction; 0 is as fast as before. */
  slow(delayMs: number): void
  /**
   * On the connections open now the server hears nothing any more, not even that the client closes, while what it
   * sends still arrives: a firewall that has forgotten them. Lasts until they are cut.
   */
  halfClose(): void
  /** New connections are refused; the open ones go on. */
  refuse(): Promise<void>
  accept(): Promise<void>
  stop(): Promise<void>
}

export type CutMoment = 'before' | 'after-forward'

/** A TCP proxy in front of any server, for tests of what a broken network does; on a port of its own, or on the given one. */
export async function startProxy(targetHost: string, targetPort: number, givenPort?: number): Promise<FaultProxy> {
  const port = givenPort ?? (await freePort())
  const connections = new Set<Connection>()
  const rules: ConnectionRules = { traps: [], gate: Promise.resolve(), delayMs: 0 }
  let openGate: (() => void) | undefined
  let listener: Server | undefined

  async function accept(): Promise<void> {
    if (listener) return
    // Half-open on both sides, so that the proxy adds no close of its own.
    listener = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect({ host: targetHost, port: targetPort, allowHalfOpen: true })
      const connection = joinSockets(client, server, rules)
      connections.add(connection)
      // Of a half-closed one the client may be long gone.
      server.once('close', () => connections.delete(connection))
    })
    listener.listen(port, localhost)
    await once(listener, 'listening')
  }

  async function refuse(): Promise<void> {
    // Its "close" event would wait for the open connections; the port is free at once.
    listener?.close()
    listener = undefined
  }

  function cutAll(): void {
    for (const connection of connections) connection.cut()
  }

  function resume(): void {
    openGate?.()
    openGate = undefined
  }

  await accept()
  return {
    host: localhost,
    port,
    url: (original) => atAddress(original, localhost, port),
    cutAll,
    cutWhenClientSends(pattern, when, { answer } = {}) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const expected = answer === undefined ? undefined : toRegExp(answer)
      rules.traps.push({ pattern: toRegExp(pattern), when, answer: expected, sprung: resolve })
      return promise
    },
    pause() {
      if (openGate) return
      const { promise, resolve } = Promise.withResolvers<void>()
      rules.gate = promise
      openGate = resolve
    },
    resume,
    slow(delayMs) {
      rules.delayMs = delayMs
    },
    halfClose() {
      for (const connection of connections) connection.halfClose()
    },
    refuse,
    accept,
    async stop() {
      await refuse()
      cutAll()
      resume()
    },
  }
}

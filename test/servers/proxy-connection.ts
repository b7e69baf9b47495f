import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { StreamSearch } from './stream-search.ts'

/** Waits for the client to send something, on any connection, and works once. */
export interface Trap {
  readonly pattern: RegExp
  readonly when: 'before' | 'after-forward'
  readonly answer: RegExp | undefined
  readonly sprung: () => void
}

/** Shared by all connections of a proxy. */
export interface ConnectionRules {
  traps: Trap[]
  /** Every chunk waits for it, in both directions. */
  gate: Promise<void>
  /** And then for this long. */
  delayMs: number
}

export interface Connection {
  cut(): void
  halfClose(): void
}

export function joinSockets(client: Socket, server: Socket, rules: ConnectionRules): Connection {
  let waitingForAnswer: Trap | undefined
  let isHalfClosed = false
  const fromClient = new StreamSearch()
  const fromServer = new StreamSearch()

  const toServer = gated(rules, (chunk) => {
    const isIn = fromClient.next(chunk)
    const trap = waitingForAnswer ? undefined : rules.traps.find(({ pattern }) => isIn(pattern))
    if (!trap) return 'forward'
    rules.traps = rules.traps.filter((other) => other !== trap)
    waitingForAnswer = trap
    if (trap.when === 'after-forward') return 'forward'
    cut()
    return 'drop'
  })
  const toClient = gated(rules, (chunk) => {
    const isIn = fromServer.next(chunk)
    if (!waitingForAnswer) return 'forward'
    const { answer } = waitingForAnswer
    if (!answer || isIn(answer)) cut()
    // Not even the part of the answer before the expected one: the client must learn nothing.
    return 'drop'
  })
  const streams = [client, toServer, server, toClient]

  function cut(): void {
    for (const stream of streams) stream.destroy()
    // Also when one side closes first: a test that waits for the cut must not hang.
    waitingForAnswer?.sprung()
  }

  function clientIsGone(): void {
    if (!isHalfClosed) cut()
  }

  client.on('error', clientIsGone)
  client.on('close', clientIsGone)
  for (const stream of [toServer, server, toClient]) stream.on('error', cut)
  server.on('close', cut)
  client.pipe(toServer).pipe(server)
  server.pipe(toClient).pipe(client)
  return {
    cut,
    halfClose() {
      isHalfClosed = true
      // Read on, so that the client can send and close as if somebody listened.
      client.unpipe(toServer).resume()
    },
  }
}

function gated(rules: ConnectionRules, judge: (chunk: Buffer) => 'forward' | 'drop'): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      await rules.gate
      if (rules.delayMs > 0) await pause(rules.delayMs)
      if (this.destroyed) return
      if (judge(chunk) === 'forward') done(null, chunk)
      else done()
    },
  })
}

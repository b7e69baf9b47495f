import { inTime } from '../../clock/index.ts'
import type { Clock, OutgoingMessage, PublishResult } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { accessRefused, brokerError, replyCode } from './broker-errors.ts'
import type { AmqpConfirmChannel } from './client-shapes.ts'
import { type Answer, ConfirmedSending } from './confirmed-sending.ts'
import type { Link } from './link.ts'
import { type Encoded, publishInOrder } from './publish-in-order.ts'
import { toWire, type WireMessage, type WireRules } from './to-wire.ts'

export interface PublisherOptions {
  readonly link: Link
  readonly rules: WireRules
  readonly clock: Clock
  readonly confirmTimeoutMs: number
  /** Makes sure that the target exists. */
  prepare(channel: AmqpConfirmChannel): Promise<void>
}

export interface Publisher {
  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]>
  close(): Promise<void>
}

/** How long to wait, when we leave, for a channel that is still being opened. */
const farewellMs = 3_000

/** RabbitMQ closes the channel with this code if it does not accept a message, for example one that is too large. */
const preconditionFailed = 406

export function newPublisher({ link, rules, clock, confirmTimeoutMs, prepare }: PublisherOptions): Publisher {
  let current: Promise<ConfirmedSending> | undefined

  /** A broker that is short of memory or disk answers nothing on a connection that publishes. It has said so before. */
  const silence = (what: string): Error => {
    const why = link.whyBlocked()
    const said = why === undefined ? '' : `: the broker takes nothing from publishers now, and says "${why}"`
    return new Error(`no ${what} within ${confirmTimeoutMs} ms${said}`)
  }

  /** Again on the same channel if no queue wanted a message: what is declared here may have been deleted. */
  const begin = async (old?: ConfirmedSending): Promise<ConfirmedSending> => {
    const sending = old ?? (await beginNew())
    try {
      await sending.prepare(prepare)
      return sending
    } catch (error) {
      await sending.close()
      throw error
    }
  }

  const beginNew = async (): Promise<ConfirmedSending> => {
    const opened = await link.open((connection) => connection.createConfirmChannel())
    return new ConfirmedSending(opened, { clock, timeoutMs: confirmTimeoutMs, silence })
  }

  const openNew = async (old?: ConfirmedSending): Promise<ConfirmedSending> => {
    const beginning = begin(old)
    try {
      const sending = await inTime(beginning, { clock, withinMs: confirmTimeoutMs })
      if (sending !== undefined) return sending
      void beginning.then((late) => late.close()).catch(() => {})
      throw silence('answer')
    } catch (error) {
      throw brokerError(error, `Publishing to ${rules.publishTo?.exchange || rules.queue} cannot begin`)
    }
  }

  /** Concurrent calls share a channel, and open a new one together. */
  const open = async (): Promise<ConfirmedSending> => {
    for (;;) {
      current ??= openNew()
      const opening = current
      const sending = await opening.catch((error: unknown) => {
        forget(opening)
        throw error
      })
      if (!sending.hasEnded && !sending.foundNoQueue) return sending
      forget(opening)
      if (!sending.hasEnded) current ??= openNew(sending)
    }
  }

  const forget = (opened: Promise<ConfirmedSending>): void => {
    if (current === opened) current = undefined
  }

  const send = async (wires: readonly WireMessage[]): Promise<readonly PublishResult[]> => {
    const sending = await open()
    const answers = await Promise.all(wires.map((wire) => sending.send(wire)))
    const lost = answers.filter(({ kind }) => kind === 'lost').length
    if (lost === 0) return answers.map(resultOf)
    if (sending.isClosedByPreparing || !isAboutOneMessage(sending.reason))
      throw notConfirmed(lost, wires.length, sending.reason)
    // One of them caused this, and only sending each alone shows which. The others must not be affected.
    if (wires.length === 1) return [{ kind: 'refused', error: refusedBy(sending.reason) }]
    const results: PublishResult[] = []
    for (const [index, answer] of answers.entries()) {
      if (answer.kind !== 'lost') results.push(resultOf(answer))
      else results.push(...(await send([wires[index] as WireMessage])))
    }
    return results
  }

  return {
    publish: (messages) => publishInOrder(messages, (message) => encode(message, rules), send),
    async close() {
      const opening = current?.catch(() => undefined) ?? Promise.resolve(undefined)
      current = undefined
      const opened = await inTime(opening, { clock, withinMs: farewellMs })
      if (opened === undefined) void opening.then((late) => late?.close())
      await opened?.close()
    },
  }
}

/** Permissions may also be granted per topic. Those on the exchange are the same for all messages. */
function isAboutOneMessage(reason: unknown): boolean {
  const code = replyCode(reason)
  return code === preconditionFailed || (code === accessRefused && /\baccess to topic\b/.test(String(reason)))
}

function encode(message: OutgoingMessage, rules: WireRules): Encoded {
  try {
    return { kind: 'wire', wire: toWire(message, rules) }
  } catch (error) {
    return { kind: 'refused', error: isJustonceError(error) ? error : refusedBy(error) }
  }
}

function resultOf(answer: Answer): PublishResult {
  return answer.kind === 'refused' ? answer : { kind: 'sent' }
}

function refusedBy(cause: unknown): JustonceError {
  return new JustonceError('PUBLISH_REFUSED', { message: `It cannot be published: ${String(cause)}.`, cause })
}

function notConfirmed(lost: number, all: number, reason: unknown): JustonceError {
  return brokerError(
    reason ?? new Error('the connection was lost'),
    `RabbitMQ has not confirmed ${lost} of ${all} messages, which it may have or not`,
  )
}

import type { OutgoingMessage } from '../../src/contracts/index.ts'
import { cloudEventHeaders } from '../../src/encoding/cloud-events.ts'

/**
 * Sends webhooks as CloudEvents to whichever address takes them, again and again until one has answered with 200. What
 * was refused is sent again before anything newer.
 */
export class WebhookSender {
  readonly #addresses: string[] = []
  readonly #ended = new AbortController()
  readonly #underWay = new Map<Promise<void>, string>()
  #pending: { readonly message: OutgoingMessage; readonly sequence: number }[] = []
  #sequence = 0
  #turn = 0
  #pause: NodeJS.Timeout | undefined

  add(address: string): void {
    this.#addresses.push(address)
  }

  /** Nothing more is sent there. */
  remove(address: string): void {
    const at = this.#addresses.indexOf(address)
    if (at !== -1) this.#addresses.splice(at, 1)
  }

  /** Everything that was sent there has its answer. */
  async answered(address: string): Promise<void> {
    await Promise.all([...this.#underWay].filter(([, to]) => to === address).map(([sending]) => sending))
  }

  send(messages: readonly OutgoingMessage[]): void {
    for (const message of messages) this.#pending.push({ message, sequence: this.#sequence++ })
    this.#sendSoon()
  }

  async end(): Promise<void> {
    this.#ended.abort()
    clearTimeout(this.#pause)
    await Promise.all(this.#underWay.keys())
  }

  /** A real sender waits longer. */
  #sendSoon(): void {
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined
      this.#sendAll()
    }, 3)
  }

  #sendAll(): void {
    const { signal } = this.#ended
    if (signal.aborted) return
    if (this.#addresses.length === 0) {
      this.#sendSoon()
      return
    }
    for (const each of this.#pending.splice(0)) {
      const address = this.#addresses[this.#turn++ % this.#addresses.length] as string
      const sending = post(address, each.message, signal).then((taken) => {
        this.#underWay.delete(sending)
        if (taken || signal.aborted) return
        this.#pending = [...this.#pending, each].sort((a, b) => a.sequence - b.sequence)
        this.#sendSoon()
      })
      this.#underWay.set(sending, address)
    }
  }
}

async function post(address: string, message: OutgoingMessage, signal: AbortSignal): Promise<boolean> {
  const headers = Object.entries(cloudEventHeaders(message, 'sender', 'ce-')).map(
    ([name, value]) => [name, name.startsWith('ce-') ? encodeURIComponent(value) : value] as [string, string],
  )
  const body = message.body as Uint8Array<ArrayBuffer>
  try {
    const answer = await fetch(address, { method: 'POST', headers, body, signal })
    await answer.arrayBuffer()
    return answer.ok
  } catch {
    return false
  }
}

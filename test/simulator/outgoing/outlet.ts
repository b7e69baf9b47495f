import type { OutgoingMessage, Publisher, PublishResult } from '../../../src/contracts/index.ts'
import { SimError } from '../database/sim-error.ts'
import { Link, type Network } from '../link.ts'
import type { SimProcess } from '../process.ts'
import type { Destination, Publication } from './plan.ts'

/** A broker that messages are sent to. It takes them, refuses some for a while, and is away at times. */
export class Outlet {
  readonly name: Destination
  /** In the order in which it has taken them, copies included. */
  readonly arrived: { readonly message: OutgoingMessage; readonly at: number }[] = []
  readonly #network: Network
  readonly #refusals: Map<string, Publication['refusals']>
  readonly #links = new Set<Link>()
  #isDown = false

  constructor(name: Destination, network: Network, publications: readonly Publication[]) {
    this.name = name
    this.#network = network
    this.#refusals = new Map(publications.map(({ id, refusals }) => [id, refusals]))
  }

  restart(ms: number): void {
    const { scheduler } = this.#network
    this.#isDown = true
    scheduler.note(this.name, `IS DOWN for ${ms} ms`)
    for (const link of [...this.#links]) link.lose('broker restarts')
    scheduler.after(ms, () => {
      this.#isDown = false
    })
  }

  publisherFor(process: SimProcess): Publisher {
    return {
      destination: this.name,
      publish: async (messages) => {
        if (this.#isDown) throw new SimError('connection-lost', 'the broker is down')
        const link = new Link(process, this.#network)
        this.#links.add(link)
        try {
          return await link.call('publish', () => this.#takeAll(messages))
        } finally {
          this.#links.delete(link)
          link.lose('closed')
        }
      },
      close: async () => {},
    }
  }

  /** As the contract of publishers asks for: what follows a refused message under its key is held. */
  #takeAll(messages: readonly OutgoingMessage[]): PublishResult[] {
    const refusedKeys = new Set<string>()
    return messages.map((message): PublishResult => {
      const { id, key } = message
      if (key !== undefined && refusedKeys.has(key)) return { kind: 'held' }
      const refusals = this.#refusals.get(id)
      if (refusals === undefined || refusals.times === 0) {
        this.arrived.push({ message, at: this.#network.scheduler.now })
        return { kind: 'sent' }
      }
      this.#refusals.set(id, { ...refusals, times: refusals.times - 1 })
      if (key !== undefined) refusedKeys.add(key)
      return { kind: 'refused', error: new Error('not now'), isPassing: refusals.arePassing }
    })
  }
}

import type { Transport } from '../../src/contracts/index.ts'
import { type TransportCaseContext, transportCases } from '../../src/testing/index.ts'
import { SimBroker } from '../simulator/broker/sim-broker.ts'
import { SimLog } from '../simulator/broker/sim-log.ts'
import { simLogTransport } from '../simulator/broker/sim-log-transport.ts'
import { simTransport } from '../simulator/broker/sim-transport.ts'
import { Faults } from '../simulator/faults.ts'
import type { Network } from '../simulator/link.ts'
import { SimProcess } from '../simulator/process.ts'
import { Scheduler } from '../simulator/scheduler.ts'
import { bindTransportCases } from './bind-transport-cases.ts'
import { keepStepWithRealTime } from './real-time.ts'

/** The simulator's broker must keep what it promises, or what it proves is about a broker that does not exist. */
async function open(
  connect: (scheduler: Scheduler) => {
    readonly broker: Pick<SimBroker, 'send'>
    reader(process: SimProcess, network: Network): Transport
  },
): Promise<TransportCaseContext> {
  const scheduler = new Scheduler(1)
  const { broker, reader } = connect(scheduler)
  const network = { scheduler, faults: new Faults([]) }
  const stop = keepStepWithRealTime(scheduler)
  const processes: SimProcess[] = []

  const start = (): { readonly process: SimProcess; readonly transport: Transport } => {
    const process = new SimProcess(`p${processes.length}`, scheduler, 0)
    processes.push(process)
    const transport: Transport = {
      ...reader(process, network),
      // What the application publishes ends in a tally; here it is to be delivered.
      async publish(messages) {
        for (const message of messages) broker.send({ ...message, source: 'sim' })
        return messages.map(() => ({ kind: 'sent' as const }))
      },
    }
    return { process, transport }
  }

  return {
    connect: async () => start().transport,
    async connectMortal() {
      const { process, transport } = start()
      return { transport, die: async () => process.die() }
    },
    async close() {
      stop()
    },
  }
}

const kept = /^(deliver|content|settle|retry|share|order): /
const reason = 'a simulated connection takes deliveries until it ends, also when nobody reads them'

for (const order of ['keep', 'shuffle'] as const) {
  bindTransportCases(`simulated broker, ${order}`, {
    open: () =>
      open((scheduler) => {
        const broker = new SimBroker(scheduler, order)
        return { broker, reader: (process, network) => simTransport(process, broker, network, { tells: 'count' }) }
      }),
    // How an iteration ends is left to the process, which the simulator kills.
    cases: transportCases.filter(({ name }) => kept.test(name)),
    skip: [
      { case: 'share: two consumers share the messages without overlap', reason },
      { case: 'share: what one consumer holds is not given to another', reason },
      { case: 'order: while one consumer holds a key, no other gets later messages of it', reason },
    ],
  })
}

bindTransportCases('simulated log', {
  open: () =>
    open((scheduler) => {
      const broker = new SimLog(scheduler)
      return { broker, reader: (process, network) => simLogTransport(process, broker, network, 'position') }
    }),
  cases: transportCases.filter(({ name }) => /^(content|positions): /.test(name)),
  skip: [
    { case: 'positions: what is given back keeps its place', reason: 'only a process that ends gives anything back' },
  ],
})

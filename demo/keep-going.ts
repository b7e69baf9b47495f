import { setTimeout as pause } from 'node:timers/promises'
import { openBank } from './bank.ts'
import { openBroker } from './broker.ts'
import { Crew, type CrewOptions } from './crew.ts'
import { accounts, type Copy } from './plan.ts'
import { toMessage } from './producer.ts'

const everyMs = 100
const longestStopMs = 5_000
/** In steps of the time above. */
const killEvery = 150

/** After the table: payments keep coming, some of them twice, some that nobody can credit, and now and then a worker is killed. */
export async function keepGoing(options: CrewOptions, signal: AbortSignal): Promise<void> {
  const bank = await openBank(options.place.bank)
  const crew = new Crew(options)
  try {
    const broker = await openBroker(options.place.broker, bank)
    crew.start()
    for (let step = 1; !signal.aborted; step++) {
      if (crew.failure !== undefined) throw crew.failure
      await broker.transport.publish(paymentsOf(step).map(toMessage))
      if (step % killEvery === 0) await crew.kill(Math.random())
      await pause(everyMs, undefined, { signal }).catch(() => {})
    }
    await crew.stop(longestStopMs)
    await broker.close()
  } finally {
    await crew.stop(0)
    await bank.close()
  }
}

function paymentsOf(step: number): readonly Copy[] {
  const id = `live-payment-${step}`
  const account = accounts[step % accounts.length] as string
  // Nothing can be credited by a payment of nothing: such a message becomes a dead letter.
  const payment = { id, account, cents: step % 20 === 0 ? 0 : 100 + (step % 900) }
  return step % 4 === 0 ? [1, 2].map((number) => ({ payment, number })) : [{ payment, number: 1 }]
}

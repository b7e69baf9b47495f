import { flushCompileCache } from 'node:module'
import type { Transport } from '../src/contracts/index.ts'
import { type Bank, openBank } from './bank.ts'
import { openBroker } from './broker.ts'
import { tellingHeld } from './held.ts'
import type { SidePlace } from './place.ts'

/** A running worker; `stop` finishes what it has in hand. */
export interface Work {
  stop(): Promise<void>
}

/** What a worker process tells the demo: that it has begun, and then how many deliveries it holds. */
export type WorkerNews = 'at work' | { readonly held: number }

/** The life of a worker process: opens the given bank, works, and ends when the demo has ended. */
export async function runAsWorker(begin: (bank: Bank, transport: Transport) => Promise<Work>): Promise<void> {
  // Ctrl-C reaches the whole process group; what it means for the workers is decided by the demo.
  process.on('SIGINT', () => {})
  const ended = new Promise((resolve) => process.once('message', resolve).once('disconnect', resolve))
  const place = JSON.parse(process.argv[2] as string) as SidePlace
  const bank = await openBank(place.bank)
  const broker = await openBroker(place.broker, bank)
  const work = await begin(
    bank,
    tellingHeld(broker.transport, (held) => tell({ held })),
  )
  tell('at work')
  // Usually written at the end of a process, but this one may not live to see it.
  flushCompileCache()
  await ended
  await work.stop()
  await broker.close()
  await bank.close()
  process.disconnect?.()
}

function tell(news: WorkerNews): void {
  // The demo may have gone, and then nobody wants to know.
  if (process.connected) process.send?.(news, () => {})
}

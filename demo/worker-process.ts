import { flushCompileCache } from 'node:module'
import { type Bank, type BankPlace, openBank } from './bank.ts'

/** A running worker; `stop` finishes what it has in hand. */
export interface Work {
  stop(): Promise<void>
}

/** The life of a worker process: opens the bank it was told to, works, and ends when the demo has ended. */
export async function runAsWorker(begin: (bank: Bank) => Promise<Work>): Promise<void> {
  // Ctrl-C reaches the whole process group; what it means for the workers is decided by the demo.
  process.on('SIGINT', () => {})
  const ended = new Promise((resolve) => process.once('message', resolve).once('disconnect', resolve))
  const bank = await openBank(JSON.parse(process.argv[2] as string) as BankPlace)
  const work = await begin(bank)
  process.send?.('at work')
  // Usually written at the end of a process, but this one may not live to see it.
  flushCompileCache()
  await ended
  await work.stop()
  await bank.close()
  process.disconnect?.()
}

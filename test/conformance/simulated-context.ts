import type { StoreCaseContext } from '../../src/testing/index.ts'
import { eventually } from '../../src/testing/waiting.ts'
import { SimDatabase } from '../simulator/database/sim-database.ts'
import { Faults } from '../simulator/faults.ts'
import { SimProcess } from '../simulator/process.ts'
import { Scheduler } from '../simulator/scheduler.ts'
import { simStore } from '../simulator/store/sim-store.ts'
import type { SimTx } from '../simulator/store/sim-tx.ts'
import { keepStepWithRealTime } from './real-time.ts'

/** A database in memory with many transactions open at once, as a context for the cases. */
export async function openSimulated(): Promise<StoreCaseContext<SimTx>> {
  const scheduler = new Scheduler(1)
  const database = new SimDatabase(scheduler, Date.now())
  // Here time is real: nobody should wait for a network that is as slow as those of the simulator.
  const network = { scheduler, faults: new Faults([]), quicker: 10 }
  const process = new SimProcess('p0', scheduler, 0)
  const rivalProcess = new SimProcess('p1', scheduler, 0)
  const stop = keepStepWithRealTime(scheduler)
  let rows = 0
  return {
    store: simStore({ process, database, network, sharesCommit: () => true }),
    rival: simStore({ process: rivalProcess, database, network, sharesCommit: () => true }),
    declares: ['poisoning', 'async-calls', 'idle-timeout', 'last-writes'],
    effects: {
      write: async (tx, name) => void (await tx.insert('effects', `${name}|${rows++}`, { name })),
      count: async (name) => database.scan(undefined, 'effects').filter(({ row }) => row.name === name).length,
      writeBadly: (tx) => tx.violate(),
      lock: (tx, name) => tx.update('locks', name, () => ({})),
      commit: (tx) => tx.commit(),
      prepareWrite({ insert }) {
        return async (name) => void (await insert('effects', `${name}|${rows++}`, { name }))
      },
      cut: (tx) => tx.cut(),
    },
    moveClock: async (ms) => database.moveClock(ms),
    async backUp() {
      const restore = database.backUp()
      return async () => {
        restore(1)
        await eventually(async () => (database.isDown ? undefined : true), 'the database')
        return simStore({ process: rivalProcess, database, network })
      }
    },
    async close() {
      stop()
    },
  }
}

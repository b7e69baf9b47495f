import type { QueuedMessage, Raised } from '../../src/contracts/index.ts'
import { bindBrokenStores, leases, queue, retention } from './break-store.ts'

const jumped = 'clock: one that jumps ahead does not raise the horizon, and nothing has changed when it is right again'
const repaired = 'horizon: a repair lowers it to the point up to which records were removed, and not below'
/** What a store that does not ask its database might remember. */
let isTaken = false
let heldByOthers: readonly QueuedMessage[] = []
const believing = ({ doubt, ...raised }: Raised): Raised => raised

bindBrokenStores([
  {
    name: 'raises the horizon by whatever its clock says',
    caught: jumped,
    break: retention(({ raise }) => ({
      raise: async (keepMs) => believing(await raise(keepMs, new Date('2999-01-01'))),
    })),
  },
  {
    name: 'reports to nobody that its clock has jumped',
    caught: jumped,
    break: retention(({ raise }) => ({ raise: async (...given) => believing(await raise(...given)) })),
  },
  {
    name: 'never believes its clock again',
    caught: 'clock: one that stays ahead is believed after it has run on from there for a while',
    break: retention(({ raise }) => {
      let doubt: Raised['doubt']
      return {
        async raise(...given) {
          const raised = await raise(...given)
          doubt ??= raised.doubt
          return { ...raised, doubt }
        },
      }
    }),
  },
  {
    name: 'believes its clock the second time it is asked',
    caught: 'clock: two jumps in a row do not count as a clock that has run on',
    break: retention(({ raise }) => {
      let doubts = 0
      return {
        async raise(keepMs, steadyNow) {
          const raised = await raise(keepMs, steadyNow)
          return raised.doubt !== undefined && ++doubts > 1 ? believing(await raise(keepMs, raised.now)) : raised
        },
      }
    }),
  },
  {
    name: 'ignores a process that has seen the time pass',
    caught: 'clock: a jump is believed at once if the process that raises the horizon has seen that much time pass',
    break: retention(({ raise }) => ({ raise: (keepMs) => raise(keepMs) })),
  },
  {
    name: 'keeps a lease until the end that a wrong clock gave it',
    caught: 'clock: a lease that was taken while it was ahead does not outlive its length',
    break: leases(({ acquire }) => ({
      async acquire(name, leaseMs) {
        const lease = isTaken ? undefined : await acquire(name, leaseMs)
        isTaken ||= lease !== undefined
        return lease
      },
    })),
  },
  {
    name: 'hides what was taken until the time that a wrong clock has named',
    caught: 'clock: what was taken while it was ahead is not hidden for much longer than that once it is right again',
    break: queue(({ take, hide }) => ({
      // As if nothing could ever be hidden for too long.
      async take(name, options) {
        const taken = await take(name, { ...options, visibilityMs: 1e12 })
        await hide(name, taken, options.visibilityMs)
        return taken
      },
    })),
  },
  {
    name: 'takes from a holder what a wrong clock has hidden',
    caught: 'clock: whoever is alive keeps what was taken while it was ahead',
    break: queue(({ take, hide }) => ({
      async take(name, options) {
        await hide(name, heldByOthers, 0)
        heldByOthers = await take(name, options)
        return heldByOthers
      },
    })),
  },
  {
    name: 'lowers the horizon below what was removed',
    caught: repaired,
    break: retention(({ horizon, repairHorizon }) => {
      let isNone = false
      return {
        async repairHorizon() {
          isNone = true
          return { ...(await repairHorizon()), horizon: undefined }
        },
        horizon: async () => (isNone ? undefined : await horizon()),
      }
    }),
  },
  {
    name: 'does not lower the horizon',
    caught: repaired,
    break: retention(({ horizon }) => ({
      async repairHorizon() {
        const now = await horizon()
        return { before: now, horizon: now }
      },
    })),
  },
])

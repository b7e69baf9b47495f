import { bindBrokenStores, comparesWithWhatItSees, leases } from './break-store.ts'

/** What a store that does not ask its database might remember. */
const held = new Map<string, { fence: number; endsAt: number }>()
const anHour = 3_600_000

bindBrokenStores([
  {
    name: 'lets every process advance a schedule',
    caught: 'schedule: of ten processes that see the same tick, one makes its message',
    break: comparesWithWhatItSees,
  },
  {
    name: 'gives a lease to everybody',
    caught: 'leases: the holder keeps others out until the lease is released',
    break: leases(({ acquire }) => ({ acquire: async (name, ms) => (await acquire(name, ms)) ?? { fence: 1 } })),
  },
  {
    name: 'takes leases for each other when their names differ by case',
    caught: 'leases: names are compared in full and case-sensitively',
    break: leases(({ acquire }) => ({ acquire: (name, ms) => acquire(name.toLowerCase(), ms) })),
  },
  {
    name: 'looks whether a lease is free before it takes it',
    caught: 'leases: of many processes that ask at once, exactly one gets it',
    break: leases(({ renew }) => ({
      async acquire(name, ms) {
        const known = held.get(name)
        await renew('somebody has to be asked', 0, 1)
        if (known !== undefined && known.endsAt > Date.now()) return undefined
        const fence = (known?.fence ?? 0) + 1
        held.set(name, { fence, endsAt: Date.now() + ms })
        return { fence }
      },
      async release(name, fence) {
        held.set(name, { fence, endsAt: 0 })
        return true
      },
    })),
  },
  {
    name: 'begins to count fences anew',
    caught: 'leases: the fence only grows, across releases and expiries, in every process',
    break: leases(({ acquire, release }) => {
      const real = new Map<string, number>()
      return {
        async acquire(name, ms) {
          const lease = await acquire(name, ms)
          if (lease === undefined) return undefined
          real.set(name, lease.fence)
          return { fence: 1 }
        },
        release: (name) => release(name, real.get(name) ?? 0),
      }
    }),
  },
  {
    name: 'counts fences from one, and so again from one when a backup was restored',
    caught: 'leases: a fence is at least the time, in microseconds, so that it keeps growing after its row was lost',
    break: leases(({ acquire }) => {
      let fence = 0
      return { acquire: async (name, ms) => ((await acquire(name, ms)) === undefined ? undefined : { fence: ++fence }) }
    }),
  },
  {
    name: 'lets a late holder free the lease of another',
    caught: 'leases: a lease that is not renewed expires, and its holder has lost it',
    break: leases(({ release }) => ({
      async release(name, fence) {
        return (await release(name, fence)) || !(await release(name, fence + 1))
      },
    })),
  },
  {
    name: 'renews what has ended',
    caught: 'leases: an expired lease is lost, even if nobody has taken it since',
    break: leases(({ renew }) => ({
      renew: async (name, fence, ms) => (await renew(name, fence, ms)) || ms === anHour,
    })),
  },
  {
    name: 'does not renew for longer',
    caught: 'leases: a renewal counts from now, whether it extends or shortens the lease',
    break: leases(({ renew }) => ({ renew: (name, fence, ms) => renew(name, fence, Math.min(ms, 200)) })),
  },
  {
    name: 'releases by name alone',
    caught: 'leases: a fence that was never issued, or was already released, renews and releases nothing',
    break: leases(({ release }) => ({
      release: async (name, fence) => (await release(name, fence - 1)) || release(name, fence),
    })),
  },
])

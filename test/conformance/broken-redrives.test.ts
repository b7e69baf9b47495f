import { bindBrokenStores, facts, redrives } from './break-store.ts'

bindBrokenStores([
  {
    name: 'releases without a limit',
    caught: 'redrive: letters are released in the order of parking, up to the limit, each once',
    break: redrives(({ release }) => ({ release: (tx, id) => release(tx, id, 1_000) })),
  },
  {
    name: 'releases what has died since',
    caught: 'redrive: its selection is frozen: what dies later is not in it, and no letter is in two',
    break: redrives(({ release }, { parking: { list, change } }) => ({
      async release(tx, id, limit) {
        const rows = await list({ state: 'dead' })
        await change(
          tx,
          rows.map((row) => ({ ...row, kind: 'again', attempts: 0, delayMs: 0 })),
        )
        return rows.length + (await release(tx, id, limit))
      },
    })),
  },
  {
    name: 'takes every letter that waits for one that was not tried',
    caught: 'redrive: progress is counted from the rows: what failed, waiting or dead again, and what is not tried yet',
    break: redrives(({ find }, { parking: { count } }) => ({
      async find(id) {
        const found = await find(id)
        const unreleased = await count({ redrive: id, state: 'dead' })
        const untried = await count({ redrive: id, state: 'waiting' })
        return found && { ...found, progress: { unreleased, untried, failed: 0 } }
      },
    })),
  },
  {
    name: 'ends a redrive without taking its marks away',
    caught: 'redrive: its end takes the marks away; what was not released stays dead, and another may select it',
    break: redrives(() => ({ end: async () => {} })),
  },
  {
    name: 'drives the latest redrive, whoever else does',
    caught: 'redrive: of several each has its turn',
    break: redrives(({ list, find }) => ({
      async take() {
        const latest = (await list(10)).find(({ state }) => state === 'running')
        const found = latest && (await find(latest.id))
        return found && { ...found, now: new Date() }
      },
    })),
  },
  {
    name: 'drives a redrive that another drives',
    caught: 'redrive: one that another drives is left to it, without waiting',
    on: 'simulated',
    break: redrives(({ list, find }) => ({
      async take() {
        const first = (await list(10)).findLast(({ state }) => state === 'running')
        const found = first && (await find(first.id))
        return found && { ...found, now: new Date() }
      },
    })),
  },
  {
    name: 'tells of the oldest first',
    caught: 'audit: everything about what was done comes back, the latest first, up to the limit',
    break: facts(({ list }) => ({ list: async (kind, limit) => (await list(kind, limit)).toReversed() })),
  },
  {
    name: 'lists facts of another kind whose name begins alike',
    caught: 'facts: those of a kind are listed, the latest first, up to the limit, without those whose time is over',
    break: facts(({ list }) => ({
      list: async (kind, limit) => [...(await list(`${kind}s`, limit)), ...(await list(kind, limit))],
    })),
  },
  {
    name: 'changes facts in a transaction of its own',
    caught: 'facts: what is changed in a transaction is seen when that has committed, and not at all when it is undone',
    on: 'simulated',
    break: facts(({ change }) => ({ change: (_, changes) => change(undefined, changes) })),
  },
  {
    name: 'lets two transactions change a fact from the same revision',
    caught:
      'facts: of two transactions that change a fact from the same revision one has its way, and the other changes nothing',
    break: facts(({ read, change }) => ({
      async change(tx, changes) {
        if (tx === undefined) return await change(tx, changes)
        return changes.map(() => 1)
      },
      read,
    })),
  },
  {
    name: 'writes its audit in a transaction of its own',
    caught: 'audit: an entry lives and dies with what it tells of',
    on: 'simulated',
    break: facts(({ change }) => ({ change: (_, changes) => change(undefined, changes) })),
  },
])

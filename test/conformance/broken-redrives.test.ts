import { bindBrokenStores, comparesWithWhatItSees, facts, parking } from './break-store.ts'

bindBrokenStores([
  {
    name: 'releases without a limit',
    caught: 'redrive: letters are released in the order of parking, up to the limit, each once',
    break: parking(({ edit }) => ({
      edit: (tx, filter, what, limit) => edit(tx, filter, what, what.kind === 'release' ? 1_000 : limit),
    })),
  },
  {
    name: 'releases what is in another redrive',
    caught: 'redrive: its selection is frozen: what dies later is not in it, and no letter is in two',
    break: parking(({ edit }) => ({
      edit: (tx, { notInRedrives: _, ...filter }, what, limit) => edit(tx, filter, what, limit),
    })),
  },
  {
    name: 'releases what was released before',
    caught: 'redrive: progress is counted from the rows: what failed, waiting or dead again, and what is not tried yet',
    break: parking(({ edit }) => ({
      edit: (tx, { released: _, ...filter }, what, limit) => edit(tx, filter, what, limit),
    })),
  },
  {
    name: 'counts what was released as if it was not',
    caught: 'redrive: progress is counted from the rows: what failed, waiting or dead again, and what is not tried yet',
    break: parking(({ tally }) => ({
      tally: async (filter, by, limit) =>
        (await tally(filter, by, limit)).map((each) => ('released' in each ? { ...each, released: false } : each)),
    })),
  },
  {
    name: 'changes the revision of what it marks',
    caught: 'redrive: marking a letter keeps its revision, and releasing it does not',
    break: parking(({ edit, list, change }) => ({
      async edit(tx, filter, what, limit) {
        const edited = await edit(tx, filter, what, limit)
        if (what.kind !== 'mark') return edited
        const rows = await list({ keys: edited })
        await change(
          tx,
          rows.map((row) => ({ ...row, kind: 'dead' })),
        )
        return edited
      },
    })),
  },
  {
    name: 'lets one who has not seen a release release as well',
    caught: 'redrive: a driver that looked before something was released, or before it ended, releases nothing',
    break: comparesWithWhatItSees,
  },
  {
    name: 'lists the oldest first',
    caught: 'audit: entries are listed completely, the latest first, up to the limit',
    break: facts(({ list }) => ({ list: async (kind, limit) => (await list(kind, limit)).toReversed() })),
  },
  {
    name: 'lists facts of another kind whose name begins alike',
    caught: 'facts: those of a kind are listed, the latest first, up to the limit, without those that have expired',
    break: facts(({ list }) => ({
      list: async (kind, limit) => [...(await list(`${kind}s`, limit)), ...(await list(kind, limit))],
    })),
  },
  {
    name: 'changes facts in a transaction of its own',
    caught: 'facts: a change is visible once its transaction has committed, and never if it is rolled back',
    on: 'simulated',
    break: facts(({ change }) => ({ change: (_, changes) => change(undefined, changes) })),
  },
  {
    name: 'lets two transactions change a fact from the same revision',
    caught:
      'facts: of two transactions that change a fact from the same revision, one succeeds and the other changes nothing',
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
    caught: 'audit: an entry commits or rolls back with the action it describes',
    on: 'simulated',
    break: facts(({ change }) => ({ change: (_, changes) => change(undefined, changes) })),
  },
])

import type { Exhibit } from './exhibit.ts'
import { naiveConsumer } from './naive-consumer.ts'

/** Consumers as people write them, each with the flaw in its name. */
export const handWritten: readonly Exhibit[] = [
  {
    name: 'mark-then-run',
    flaw: 'The mark commits before the work: a crash in between leaves a message that is marked and was never done.',
    caughtAs: 'LOST',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
      if (await autocommit((tx) => tx.insert('seen', id, {}))) await autocommit(effect)
      await acknowledge()
    }),
  },
  {
    name: 'run-then-mark',
    flaw: 'The work commits before the mark: a crash in between leaves work that is done again.',
    caughtAs: 'DOUBLED',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
      if ((await autocommit((tx) => tx.get('seen', id))) === undefined) {
        await autocommit(effect)
        await autocommit((tx) => tx.insert('seen', id, {}))
      }
      await acknowledge()
    }),
  },
  {
    name: 'ack-before-commit',
    flaw: 'The broker forgets the message before the work is safe.',
    caughtAs: 'LOST',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
      await acknowledge()
      await autocommit(async (tx) => {
        if (await tx.insert('seen', id, {})) await effect(tx)
      })
    }),
  },
  {
    name: 'check-then-insert-without-a-unique-key',
    flaw: 'Two consumers look at the same moment, both see nothing, both run.',
    caughtAs: 'DOUBLED',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit, environment }) => {
      await autocommit(async (tx) => {
        if ((await tx.get('seen', id)) !== undefined) return
        await effect(tx)
        // Not unique: a row of its own for each process.
        await tx.insert('seen-log', `${id}|${environment.process.name}|${environment.process.clock.monotonicMs()}`, {})
        await tx.update('seen', id, () => ({}))
      })
      await acknowledge()
    }),
  },
  {
    name: 'set-if-absent-and-delete-on-failure',
    flaw: 'The key outlives the process that set it: after a crash the redelivery is taken for a duplicate.',
    caughtAs: 'LOST',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
      if (!(await autocommit((tx) => tx.insert('seen', id, {})))) return await acknowledge()
      try {
        await autocommit(effect)
      } catch (error) {
        await autocommit((tx) => tx.update('seen', id, () => undefined))
        throw error
      }
      await acknowledge()
    }),
  },
  {
    name: 'lease-without-fencing',
    flaw: 'A frozen process wakes up after its lease has ended and does the work that another has done meanwhile.',
    caughtAs: 'DOUBLED',
    plain: true,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit, environment }) => {
      const now = environment.process.clock.monotonicMs()
      let won = false
      let done = false
      await autocommit((tx) =>
        tx.update('leases', id, (row) => {
          done = row?.done === true
          won = !done && (row === undefined || (row.until as number) < now)
          return won ? { until: now + 2_000 } : row
        }),
      )
      if (done) return await acknowledge()
      if (!won) throw new Error('someone else has it')
      await autocommit(effect)
      await autocommit((tx) => tx.update('leases', id, () => ({ done: true })))
      await acknowledge()
    }),
  },
  {
    name: 'gives-back-while-the-store-is-down',
    flaw: 'Every message is given back at once while the database is away; the broker counts, and drops them.',
    caughtAs: 'LOST',
    plain: true,
    deliveryLimit: 20,
    program: naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
      await autocommit(async (tx) => {
        if (await tx.insert('seen', id, {})) await effect(tx)
      })
      await acknowledge()
    }),
  },
  {
    name: 'cache-filled-before-the-commit',
    flaw: 'The memory says "done" although the commit failed: the redelivery is skipped and acknowledged.',
    caughtAs: 'LOST',
    plain: true,
    program: (environment) => {
      const cache = new Set<string>()
      naiveConsumer(async ({ id, effect, acknowledge, autocommit }) => {
        if (cache.has(id)) return await acknowledge()
        cache.add(id)
        await autocommit(async (tx) => {
          if (await tx.insert('seen', id, {})) await effect(tx)
        })
        await acknowledge()
      })(environment)
    },
  },
]

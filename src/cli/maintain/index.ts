import { setTimeout as sleep } from 'node:timers/promises'
import type { Retention } from '../../contracts/index.ts'
import { operatorCommand } from '../operator-command.ts'
import { counted } from '../output/wording.ts'
import { reaching } from '../reaching.ts'

const dayMs = 86_400_000
/** The same as in a running app: nothing is removed that a transaction might still be claiming. */
const graceMs = 3_600_000
const stepMs = 200
const pauseMs = 100

export const maintainCommand = operatorCommand(
  {
    name: 'maintain',
    summary: 'does what needs the owner of the tables, for an app whose role may only read and write rows',
  },
  {
    name: '',
    summary: 'does what needs the owner of the tables, for an app whose role may only read and write rows',
    about: `Creates the partitions that records need, ahead and behind, and removes the records that lie behind the horizon, which apps with
the option retention raise. Run it with the role that owns the tables: by hand, from cron, or as a Kubernetes CronJob, at least
once a week (docs/operations/least-privilege.md). An app whose role may create tables does all of it by itself.`,
    options: {
      ahead: { kind: 'number', value: 'days', text: 'how many days ahead. Default: 30' },
      behind: { kind: 'number', value: 'days', text: 'how many days back, for messages that arrive late. Default: 30' },
    },
    async run({ store, given, show }) {
      const [ahead, behind] = [given.number('ahead') ?? 30, given.number('behind') ?? 30]
      const { retention } = store
      const hint = 'Run it with the role that owns the tables.'
      const prepare = async () => retention?.prepare(ahead * dayMs, new Date(Date.now() - behind * dayMs))
      await reaching(store, prepare, hint)
      const removed = retention === undefined ? 0 : await reaching(store, () => removeOld(retention), hint)
      const old = removed === 0 ? '' : `${counted(removed, 'record')} from before the horizon removed.\n`
      show(
        { store: store.name, ahead, behind, removed },
        () =>
          `The ${store.name} store has room for records from ${behind} days ago until ${ahead} days from now.\n${old}`,
      )
      return 0
    },
  },
)

/** The horizon is not raised here: how long records are kept is said by the apps. */
async function removeOld(retention: Retention): Promise<number> {
  const horizon = await retention.horizon()
  if (horizon === undefined) return 0
  const bornBefore = new Date(horizon.getTime() - graceMs)
  let removed = 0
  for (let more = true; more; ) {
    const step = await retention.remove({ bornBefore, timelessBefore: undefined, budgetMs: stepMs })
    removed += step.removed
    more = step.more
    if (more) await sleep(pauseMs)
  }
  return removed
}

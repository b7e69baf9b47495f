import type { Store } from '../../contracts/index.ts'
import { operatorCommand } from '../operator-command.ts'
import { counted } from '../output/wording.ts'
import { reaching } from '../reaching.ts'
import { removeRecords } from '../remove-records.ts'
import type { Output } from '../terminal.ts'
import { whileWorking } from '../working-line.ts'

const dayMs = 86_400_000
const hint = 'Run it with the role that owns the tables.'

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
    async run({ store, given, show, terminal }) {
      const [ahead, behind] = [given.number('ahead') ?? 30, given.number('behind') ?? 30]
      if (store.retention === undefined) {
        show(
          { store: store.name, removed: 0 },
          () => `The ${store.name} store has nothing to maintain: its records expire by themselves.\n`,
        )
        return 0
      }
      const removed = await maintain(store, store.retention, { ahead, behind }, terminal.err)
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

/** The horizon is not raised here: how long records are kept is said by the apps. Resolves to how many records were removed. */
async function maintain(
  store: Store,
  retention: NonNullable<Store['retention']>,
  { ahead, behind }: { readonly ahead: number; readonly behind: number },
  err: Output,
): Promise<number> {
  const since = new Date(Date.now() - behind * dayMs)
  const prepare = async (): Promise<void> => await retention.prepare(ahead * dayMs, since)
  await whileWorking(err, 'Making room for records', () => reaching(store, prepare, hint))
  const horizon = await retention.horizon()
  return horizon === undefined ? 0 : await reaching(store, () => removeRecords(retention, horizon, err), hint)
}

import { operatorCommand } from '../operator-command.ts'

const dayMs = 86_400_000

export const maintainCommand = operatorCommand(
  {
    name: 'maintain',
    summary: 'does what needs the owner of the tables, for an app whose role may only read and write rows',
  },
  {
    name: '',
    summary: 'does what needs the owner of the tables, for an app whose role may only read and write rows',
    about: `Creates the partitions that records need, ahead and behind. Run it with the role that owns the tables: by hand, from cron,
or as a Kubernetes CronJob, at least once a week (docs/operations/least-privilege.md). Where a store has no partitions it does
nothing. An app whose role may create tables does it by itself.`,
    options: {
      ahead: { kind: 'number', value: 'days', text: 'how many days ahead. Default: 30' },
      behind: { kind: 'number', value: 'days', text: 'how many days back, for messages that arrive late. Default: 30' },
    },
    async run({ store, given, show }) {
      const [ahead, behind] = [given.number('ahead') ?? 30, given.number('behind') ?? 30]
      await store.retention?.prepare(ahead * dayMs, new Date(Date.now() - behind * dayMs))
      show(
        { store: store.name, ahead, behind },
        () => `The ${store.name} store has room for records from ${behind} days ago until ${ahead} days from now.\n`,
      )
      return 0
    },
  },
)

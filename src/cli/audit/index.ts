import { operatorCommand } from '../operator-command.ts'
import { agoOf, timeOf } from '../output/wording.ts'

export const auditCommand = operatorCommand(
  { name: 'audit', summary: 'lists what operators did, the latest first' },
  {
    name: '',
    summary: 'lists what operators did, the latest first',
    options: { limit: { kind: 'number', text: 'how many at most, up to 1,000. Default: 50' } },
    async run(desk) {
      const actions = await desk.operations.audit(desk.given.number('limit') ?? 50)
      desk.show(actions, () =>
        actions.length === 0
          ? 'Nobody has done anything.\n'
          : desk.table(actions, [
              { title: 'at', of: ({ at }) => timeOf(at), short: ({ at }) => agoOf(at) },
              { title: 'action', of: ({ action }) => action },
              { title: 'by', of: ({ by }) => by, cut: true },
              { title: 'what', of: ({ subject }) => JSON.stringify(subject), cut: true },
              { title: 'why', of: ({ why }) => why, cut: true },
            ]),
      )
      return 0
    },
  },
)

import { operatorCommand } from '../operator-command.ts'
import { counted, timeOf } from '../output/wording.ts'
import {
  filterFrom,
  filterOptions,
  pageFrom,
  pageOptions,
  selectionFrom,
  selectionOptions,
} from '../selection-options.ts'

export const waitingCommand = operatorCommand(
  { name: 'waiting', summary: 'lists messages that wait for another attempt, runs or discards them' },
  {
    name: 'list',
    summary: 'lists them in the order in which they were parked',
    options: { ...filterOptions, ...pageOptions },
    async run(desk) {
      const waiting = await desk.operations.retries.list(filterFrom(desk.given), pageFrom(desk.given))
      desk.show(waiting, () =>
        waiting.length === 0
          ? 'There is none.\n'
          : desk.table(waiting, [
              { title: 'place', of: ({ sequence }) => sequence },
              { title: 'handler', of: ({ handler }) => handler, cut: true },
              { title: 'key', of: ({ key }) => key, cut: true },
              { title: 'type', of: ({ type }) => type, cut: true },
              { title: 'tries', of: ({ attempts }) => attempts },
              { title: 'due', of: ({ nextAt, begun }) => (begun > 0 ? 'being tried' : timeOf(nextAt)) },
              { title: 'reason', of: ({ reason }) => reason },
              { title: 'error', of: ({ errors }) => errors.at(-1)?.message, cut: true },
            ]),
      )
      return 0
    },
  },
  {
    name: 'run-now',
    summary: 'makes them due now; their attempts stay counted',
    options: selectionOptions,
    check: (given) => void selectionFrom(given),
    changes: true,
    async run({ operations, given, signed, show }) {
      const count = await operations.retries.retryNow(selectionFrom(given), signed)
      show({ due: count }, () => `${counted(count, 'message')} made due.\n`)
      return count > 0 ? 0 : 1
    },
  },
  {
    name: 'discard',
    summary: 'gives them up for good, except those that are being tried',
    options: selectionOptions,
    check: (given) => void selectionFrom(given),
    changes: true,
    asks: true,
    async run({ operations, given, signed, show, confirm }) {
      const selection = selectionFrom(given)
      await confirm('These messages will be gone for good. Discard?')
      const discarded = await operations.retries.discard(selection, signed)
      show({ discarded }, () => `${counted(discarded, 'message')} discarded.\n`)
      return discarded > 0 ? 0 : 1
    },
  },
)

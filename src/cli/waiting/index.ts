import type { WaitingRetry } from '../../operations/index.ts'
import { operatorCommand } from '../operator-command.ts'
import { agoOf, counted, timeOf } from '../output/wording.ts'
import { discardAction, listAction, type ParkedKind } from '../parked-actions.ts'
import { selectionFrom, selectionOptions } from '../selection-options.ts'

const waiting: ParkedKind<WaitingRetry> = {
  one: 'message',
  of: ({ retries }) => retries,
  when: {
    title: 'due',
    of: ({ nextAt, begun }) => (begun > 0 ? 'being tried' : timeOf(nextAt)),
    short: ({ nextAt, begun }) => (begun > 0 ? 'now' : agoOf(nextAt)),
  },
}

export const waitingCommand = operatorCommand(
  { name: 'waiting', summary: 'lists messages that wait for another attempt, runs or discards them' },
  listAction(waiting),
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
  discardAction(waiting, { summary: 'gives them up for good, except those that are being tried' }),
)

import { UsageError } from '../command.ts'
import { followRedrive, warnIfNobodyDrives } from '../dead-letters/follow-redrive.ts'
import { deadLetters, previewText } from '../dead-letters/letters-text.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import type { GivenOptions } from '../options.ts'
import { agoOf, counted, spanOf, timeOf } from '../output/wording.ts'
import { parkedText } from '../parked-actions.ts'
import { queuedText, queuePageFrom, queuePageOptions } from '../queued-text.ts'

export const outgoingCommand = operatorCommand(
  { name: 'outgoing', summary: 'shows published messages that have not left, and sends refused ones again' },
  {
    name: 'status',
    summary: 'counts the messages that wait for each destination',
    async run(desk) {
      const waiting = await desk.operations.outgoing.waiting()
      const rows = Object.entries(waiting).map(([destination, count]) => ({ destination, ...count }))
      desk.show(waiting, () =>
        rows.length === 0
          ? 'Everything that was published has been sent.\n'
          : desk.table(rows, [
              { title: 'destination', of: ({ destination }) => destination, cut: true },
              { title: 'ready', of: ({ ready }) => ready },
              { title: 'hidden', of: ({ hidden }) => hidden },
              { title: 'oldest', of: ({ oldestMs }) => spanOf(oldestMs) },
            ]),
      )
      return 0
    },
  },
  {
    name: 'list',
    summary: 'lists messages that leave later, that wait for a destination, or that it has refused for good',
    options: {
      ...queuePageOptions,
      waiting: { kind: 'text', value: 'destination', text: 'lists what waits for this destination' },
      refused: {
        kind: 'text',
        value: 'destination',
        text: 'lists what this destination has refused, instead of what leaves later',
      },
    },
    check(given) {
      if (given.text('waiting') === undefined) placeFrom(given)
      else if (given.text('refused') !== undefined) throw new UsageError('--waiting and --refused do not go together.')
    },
    async run(desk) {
      const refused = desk.given.text('refused')
      const waiting = desk.given.text('waiting')
      if (waiting !== undefined) return await showWaiting(desk, waiting)
      const page = { limit: desk.given.number('limit') ?? 50, after: placeFrom(desk.given) }
      if (refused !== undefined) {
        const letters = await desk.operations.letters.list({ handler: `>${refused}` }, page)
        desk.show(letters, () => (letters.length === 0 ? 'There is none.\n' : parkedText(desk, deadLetters, letters)))
        return 0
      }
      const delayed = await desk.operations.outgoing.delayed({}, page)
      desk.show(delayed, () =>
        delayed.length === 0
          ? 'No message leaves later.\n'
          : desk.table(delayed, [
              { title: 'place', of: ({ sequence }) => sequence },
              { title: 'id', of: ({ id }) => id, cut: true },
              { title: 'type', of: ({ type }) => type, cut: true },
              { title: 'to', of: ({ destination }) => destination, cut: true },
              { title: 'leaves', of: ({ dueAt }) => timeOf(dueAt), short: ({ dueAt }) => agoOf(dueAt) },
            ]),
      )
      return 0
    },
  },
  {
    name: 'redrive',
    summary: 'sends again what a destination has refused for good',
    takes: ['destination'],
    options: { wait: { kind: 'flag', text: 'waits until it has ended' } },
    changes: true,
    asks: true,
    async run(desk) {
      const { operations, given, signed, show, confirm } = desk
      const [destination = ''] = given.args
      const selection = { handler: `>${destination}` }
      const preview = await operations.letters.preview(selection)
      await confirm(`${previewText(preview)}Send them again to ${destination}?`)
      const started = await operations.letters.redrive(selection, signed)
      await warnIfNobodyDrives(desk)
      if (given.flag('wait')) return await followRedrive(desk, started.id)
      show(started, () => `The redrive ${started.id} of ${counted(started.selected, 'message')} has started.\n`)
      return 0
    },
  },
  {
    name: 'cancel',
    summary: 'cancels a message that leaves later',
    takes: ['id'],
    changes: true,
    async run({ operations, given, signed, show }) {
      const [id = ''] = given.args
      const isCancelled = await operations.outgoing.cancel(id, signed)
      show({ id, cancelled: isCancelled }, () =>
        isCancelled ? 'It is cancelled.\n' : 'No such message waits for its time.\n',
      )
      return isCancelled ? 0 : 1
    },
  },
)

/** Places of parked rows are numbers. */
function placeFrom(given: GivenOptions): number {
  const after = Number(given.text('after') ?? 0)
  if (Number.isSafeInteger(after) && after >= 0) return after
  throw new UsageError('--after is a place of the list, a whole number.')
}

async function showWaiting(desk: Desk, destination: string): Promise<number> {
  const waiting = await desk.operations.outgoing.list(destination, queuePageFrom(desk.given))
  desk.show(waiting, () => (waiting.length === 0 ? `Nothing waits for ${destination}.\n` : queuedText(desk, waiting)))
  return 0
}

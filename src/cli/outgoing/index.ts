import { followRedrive } from '../dead-letters/follow-redrive.ts'
import { lettersText, previewText } from '../dead-letters/letters-text.ts'
import { operatorCommand } from '../operator-command.ts'
import { counted, spanOf, timeOf } from '../output/wording.ts'
import { pageFrom, pageOptions } from '../selection-options.ts'

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
    summary: 'lists messages that leave later, and those that a destination has refused for good',
    options: {
      ...pageOptions,
      refused: {
        kind: 'text',
        value: 'destination',
        text: 'lists what this destination has refused, instead of what leaves later',
      },
    },
    async run(desk) {
      const refused = desk.given.text('refused')
      if (refused !== undefined) {
        const letters = await desk.operations.letters.list({ handler: `>${refused}` }, pageFrom(desk.given))
        desk.show(letters, () => (letters.length === 0 ? 'There is none.\n' : lettersText(desk, letters)))
        return 0
      }
      const delayed = await desk.operations.outgoing.delayed({}, pageFrom(desk.given))
      desk.show(delayed, () =>
        delayed.length === 0
          ? 'No message leaves later.\n'
          : desk.table(delayed, [
              { title: 'place', of: ({ sequence }) => sequence },
              { title: 'id', of: ({ id }) => id, cut: true },
              { title: 'type', of: ({ type }) => type, cut: true },
              { title: 'to', of: ({ destination }) => destination, cut: true },
              { title: 'leaves', of: ({ dueAt }) => timeOf(dueAt) },
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

import { readFileSync } from 'node:fs'
import { UsageError } from '../command.ts'
import { operatorCommand } from '../operator-command.ts'
import { counted } from '../output/wording.ts'
import { discardAction, listAction } from '../parked-actions.ts'
import { filterFrom, filterOptions, selectionFrom, selectionOptions } from '../selection-options.ts'
import { followRedrive, warnIfNobodyDrives } from './follow-redrive.ts'
import { deadLetters, groupsText, letterText, previewText, redrivesText } from './letters-text.ts'

const redriveOptions = {
  canary: { kind: 'number', text: 'how many go first; the others follow if all of these succeed' },
  'per-second': { kind: 'number', text: 'how many are released per second at most' },
  'stop-after': { kind: 'number', text: 'stops when more than this many have failed again. Default: 10' },
  wait: { kind: 'flag', text: 'waits until it has ended; the exit code is 1 if it was stopped' },
} as const

export const deadLettersCommand = operatorCommand(
  {
    name: 'dead-letters',
    summary: 'lists, redrives, edits, notes and discards messages that are not retried by themselves',
  },
  listAction(deadLetters),
  {
    name: 'groups',
    summary: 'counts those with the same cause, the most first',
    options: filterOptions,
    async run(desk) {
      const groups = await desk.operations.letters.groups(filterFrom(desk.given))
      desk.show(groups, () => (groups.length === 0 ? 'There is none.\n' : groupsText(desk, groups)))
      return 0
    },
  },
  {
    name: 'note',
    summary: 'keeps a note about a cause, which groups shows; an empty one removes it',
    about:
      'Keeps a note about a cause, which stays when its dead letters are gone. The options have to name exactly one cause.',
    takes: ['text'],
    options: filterOptions,
    changes: true,
    async run({ operations, given, signed, show }) {
      const [note = ''] = given.args
      const [group, other] = await operations.letters.groups(filterFrom(given), 2)
      if (other !== undefined)
        throw new UsageError('they have more than one cause: name one by --handler, --reason and --error.')
      if (group !== undefined) {
        const { handler, reason, shape } = group
        await operations.letters.annotate({ handler, reason, shape }, note, signed)
      }
      const done = note === '' ? 'The note is removed.\n' : 'The note is kept.\n'
      show({ group: group ?? null, note }, () => (group === undefined ? 'No dead letter matches.\n' : done))
      return group === undefined ? 1 : 0
    },
  },
  {
    name: 'show',
    summary: 'shows one with its errors, headers and body',
    takes: ['handler', 'key'],
    async run({ operations, given, show }) {
      const [handler = '', key = ''] = given.args
      const letter = await operations.letters.get({ handler, key })
      show(letter ?? null, () => (letter === undefined ? 'There is no such dead letter.\n' : letterText(letter)))
      return letter === undefined ? 1 : 0
    },
  },
  {
    name: 'redrive',
    summary: 'gives them new attempts: only what has not succeeded runs',
    check: (given) => void selectionFrom(given),
    options: { ...selectionOptions, ...redriveOptions, preview: { kind: 'flag', text: 'only says what would run' } },
    changes: true,
    asks: true,
    async run(desk) {
      const { operations, given, signed, show, confirm } = desk
      const selection = selectionFrom(given)
      const preview = await operations.letters.preview(selection)
      if (given.flag('preview')) {
        show(preview, () => previewText(preview))
        return 0
      }
      if (preview.letters > 1) await confirm(`${previewText(preview)}Redrive them?`)
      const options = {
        canary: given.number('canary'),
        perSecond: given.number('per-second'),
        stopAfterFailures: given.number('stop-after'),
      }
      const started = await operations.letters.redrive(selection, { ...signed, ...options })
      await warnIfNobodyDrives(desk)
      if (given.flag('wait')) return await followRedrive(desk, started.id)
      show(
        started,
        () =>
          `The redrive ${started.id} of ${counted(started.selected, 'dead letter')} has started. Running apps carry it out.\n`,
      )
      return 0
    },
  },
  {
    name: 'edit',
    summary: 'redrives one with another body',
    about: 'Redrives one with another body. Its handlers have to accept the body, so this needs --config with the app.',
    takes: ['handler', 'key'],
    options: { body: { kind: 'text', value: 'json | @file', text: 'the new body' }, wait: redriveOptions.wait },
    changes: true,
    async run(desk) {
      const { operations, given, signed, show } = desk
      const [handler = '', key = ''] = given.args
      const body = bodyFrom(given.text('body'))
      const started = await operations.letters.redrive({ handler, key }, { ...signed, body })
      await warnIfNobodyDrives(desk)
      if (given.flag('wait')) return await followRedrive(desk, started.id)
      show(started, () => `It is redriven with the new body: ${started.id}.\n`)
      return 0
    },
  },
  discardAction(deadLetters, {
    summary: 'gives them up for good',
    countedFirst: async ({ operations }, selection) => (await operations.letters.preview(selection)).letters,
  }),
  {
    name: 'redrives',
    summary: 'lists redrives, the latest first',
    async run(desk) {
      const redrives = await desk.operations.letters.redrives(50)
      const status = await Promise.all(redrives.map(({ id }) => desk.operations.letters.redriveStatus(id)))
      desk.show(status, () => (status.length === 0 ? 'There was none.\n' : redrivesText(desk, status)))
      return 0
    },
  },
  {
    name: 'stop',
    summary: 'stops a redrive; what was released goes on',
    takes: ['redrive'],
    changes: true,
    async run({ operations, given, signed, show }) {
      const [id = ''] = given.args
      const isStopped = await operations.letters.stopRedrive(id, signed)
      show({ id, stopped: isStopped }, () => (isStopped ? 'It is stopped.\n' : 'It had ended before.\n'))
      return isStopped ? 0 : 1
    },
  },
)

function bodyFrom(text: string | undefined): unknown {
  if (text === undefined) throw new UsageError('which body? Give --body <json> or --body @file.')
  const content = text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new UsageError(`the body is no JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

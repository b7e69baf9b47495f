import type { IntentState, IntentView, Resolution } from '../../operations/index.ts'
import { UsageError } from '../command.ts'
import { operatorCommand } from '../operator-command.ts'
import type { GivenOptions } from '../options.ts'
import { linesOf, saidLines } from '../output/said-lines.ts'
import { agoOf, counted, timeOf } from '../output/wording.ts'
import { pageFrom, pageOptions } from '../selection-options.ts'

const states: readonly string[] = ['pending', 'running', 'waiting', 'unknown', 'given-up']

export const intentsCommand = operatorCommand(
  { name: 'intents', summary: 'lists calls outside that have not ended, and settles those that wait for a person' },
  {
    name: 'list',
    summary: 'lists them in the order in which they were intended',
    options: {
      effect: { kind: 'text', value: 'name', text: 'of this effect' },
      state: { kind: 'text', value: 'state', text: states.join(', ') },
      'needs-person': { kind: 'flag', text: 'only those that wait for a person' },
      'business-id': {
        kind: 'text',
        value: 'id',
        text: 'intended for this, such as an order: what businessId of the app found',
      },
      ...pageOptions,
    },
    check(given) {
      const state = given.text('state')
      if (state !== undefined && !states.includes(state))
        throw new UsageError(`--state is one of ${states.join(', ')}.`)
    },
    async run(desk) {
      const { given, operations } = desk
      const state = given.text('state') as IntentState | undefined
      const needsPerson = given.flag('needs-person') ? true : undefined
      const filter = { effect: given.text('effect'), state, needsPerson, businessId: given.text('business-id') }
      const intents = await operations.intents.list(filter, pageFrom(given))
      desk.show(intents, () =>
        intents.length === 0
          ? 'There is none.\n'
          : desk.table(intents, [
              { title: 'place', of: ({ sequence }) => sequence },
              { title: 'effect', of: ({ effect }) => effect, cut: true },
              { title: 'key', of: ({ key }) => key, cut: true },
              {
                title: 'state',
                of: ({ state, needsPerson }) => (needsPerson ? `${state}, needs a person` : state),
                short: ({ state, needsPerson }) => (needsPerson ? 'needs a person' : state),
              },
              { title: 'tries', of: ({ attempts }) => attempts },
              { title: 'next', of: ({ nextAt }) => timeOf(nextAt), short: ({ nextAt }) => agoOf(nextAt) },
              { title: 'error', of: ({ errors }) => errors.at(-1)?.message, cut: true },
            ]),
      )
      return 0
    },
  },
  {
    name: 'show',
    summary: 'shows one with its payload and errors',
    takes: ['effect', 'key'],
    async run({ operations, given, show }) {
      const [effect = '', key = ''] = given.args
      const intent = await operations.intents.get({ effect, key })
      show(intent ?? null, () =>
        intent === undefined ? 'There is no such intent that has not ended.\n' : intentText(intent),
      )
      return intent === undefined ? 1 : 0
    },
  },
  {
    name: 'resolve',
    summary:
      'says what nobody else can know: that it happened, that it is called again, or that nobody wants it any more',
    takes: ['effect', 'key'],
    options: {
      done: { kind: 'flag', text: 'it has happened' },
      result: { kind: 'text', value: 'json', text: 'with this result; goes with --done' },
      again: {
        kind: 'flag',
        text: 'calls it once more: only if it has certainly not happened, or has an idempotency key',
      },
      discard: { kind: 'flag', text: 'nobody calls it any more' },
    },
    changes: true,
    asks: true,
    check: (given) => void resolutionFrom(given),
    async run({ operations, given, signed, show, confirm }) {
      const [effect = '', key = ''] = given.args
      const resolution = resolutionFrom(given)
      await confirm(`${effect} ${key}: ${resolution.as}. Is that so?`)
      await operations.intents.resolve({ effect, key }, resolution, signed)
      show({ effect, key, ...resolution }, () => 'It is settled.\n')
      return 0
    },
  },
)

function resolutionFrom(given: GivenOptions): Resolution {
  const chosen = ['done', 'again', 'discard'].filter((name) => given.flag(name))
  if (chosen.length !== 1) throw new UsageError('how? Give one of --done, --again, --discard.')
  const result = given.text('result')
  if (result !== undefined && chosen[0] !== 'done') throw new UsageError('--result goes with --done.')
  if (chosen[0] === 'again') return { as: 'again' }
  if (chosen[0] === 'discard') return { as: 'discarded' }
  if (result === undefined) return { as: 'done' }
  try {
    return { as: 'done', result: JSON.parse(result) }
  } catch {
    throw new UsageError('the result is no JSON.')
  }
}

function intentText(intent: IntentView): string {
  const { effect, key, state, needsPerson, idempotencyKey, attempts, intendedAt, nextAt, errors, payload } = intent
  const lines = [
    `${effect}, key ${key}: ${state}${needsPerson ? ', waits for a person' : ''}`,
    `intended ${timeOf(intendedAt)}, ${counted(attempts, 'call')} begun, ${nextAt === undefined ? 'none comes by itself' : `next at ${timeOf(nextAt)}`}, idempotency key ${idempotencyKey}`,
    ...errors.flatMap(saidLines),
    `payload: ${JSON.stringify(payload) ?? ''}`,
  ]
  return linesOf(lines)
}

import { expect, test, vi } from 'vitest'
import { note } from '../../test/app/open-app.ts'
import type { JustonceEvent } from '../contracts/index.ts'
import { memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { memoryTransport } from '../transports/memory/index.ts'
import { consoleLog } from './console-log.ts'
import { justonce } from './justonce.ts'

const failed = (handler: string): JustonceEvent => ({
  kind: 'parked',
  handler,
  key: 'm1',
  reason: 'HANDLER_FAILED',
  state: 'waiting',
  attempts: 1,
  error: new TypeError('no\nsuch thing'),
})

function open() {
  const clock = fakeClock()
  const lines: string[] = []
  return { clock, lines, log: consoleLog(clock, (line) => void lines.push(line)) }
}

test('what goes wrong is a line, and what goes well is none', () => {
  const { lines, log } = open()
  log({ kind: 'processed', handler: 'tag-note', key: 'm1', type: 'note' })
  log({
    ...(failed('tag-note') as JustonceEvent & { kind: 'parked' }),
    reason: 'WAITS_FOR_EARLIER_MESSAGE',
    error: undefined,
  })
  log(failed('tag-note'))
  log({ kind: 'store-down', error: 'x'.repeat(1_000) })
  expect(lines).toEqual([
    'justonce: tag-note failed on m1 (1 attempt), tried again later: TypeError: no such thing',
    `justonce: the store is away, everything is held until it is back: ${'x'.repeat(300)}…`,
  ])
})

test('the same trouble is said once in a while, with how much there was; other trouble at once', async () => {
  const { clock, lines, log } = open()
  for (let count = 0; count < 5; count++) log(failed('tag-note'))
  log(failed('count-notes'))
  expect(lines).toHaveLength(2)
  await clock.advance(30_000)
  log(failed('tag-note'))
  expect(lines[2]).toMatch(/ \(and 4 more since the last such line\)$/)
})

test('anything at all may have been thrown', () => {
  const { lines, log } = open()
  for (const error of [undefined, null, Symbol('x'), Object.create(null), { toString: () => 5 }])
    log({ kind: 'loop-failed', loop: String(lines.length), error })
  expect(lines).toHaveLength(5)
})

test('it is one short line, whatever the key of a message has in it', () => {
  const { lines, log } = open()
  const key = `m1\njustonce: all is well\u001b[2J${'x'.repeat(100_000)}`
  log({ ...(failed('tag-note') as JustonceEvent & { kind: 'parked' }), key })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^justonce: tag-note failed on m1 justonce: all is well \[2Jx+…$/)
  expect(lines[0]?.length).toBeLessThan(1_100)
})

test('what cannot even be looked at is not said, and hurts nobody', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    const app = justonce({ store: memoryStore(), transport: memoryTransport() })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    app.on('note.created', 'tag-note', (_, { afterCommit }) => {
      afterCommit(() => {
        throw proxy
      })
    })
    expect(await app.deliver(note('m1'))).toMatchObject({ handlers: { 'tag-note': { status: 'processed' } } })
    await app.stop()
  } finally {
    warn.mockRestore()
  }
})

test.each([
  { listened: false, options: {}, lines: 1 },
  { listened: false, options: { log: false }, lines: 0 },
  { listened: true, options: {}, lines: 0 },
])('an app says it on the console unless somebody listens or it was turned off: $listened, $options', async (given) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    const app = justonce({ store: memoryStore(), transport: memoryTransport(), ...given.options })
    app.on('note.created', 'tag-note', () => {
      throw new Error('no')
    })
    if (given.listened) app.events.listen(() => {})
    await app.deliver(note('m1'))
    await app.stop()
    expect(warn).toHaveBeenCalledTimes(given.lines)
  } finally {
    warn.mockRestore()
  }
})

import { describe, expect, test } from 'vitest'
import type { StoredParkedMessage } from '../../src/contracts/index.ts'
import { ConsumerChild } from './consumer-child.ts'
import { deaths, type EffectKind, effectName, kinds, mischief, type Step } from './fixtures/intent-config.ts'
import { openProvider, type Provider } from './provider.ts'
import { onMysql, onPostgres, onSqlite } from './stores.ts'
import type { World } from './world.ts'

/** How often the provider did it, and whether a person is asked. */
type End = '0, unknown' | '1, unknown' | '1' | '2'

/** With a key or a probe nothing is lost and nothing doubled. */
const always = { keyed: '1', probed: '1' } as const
/** Nobody knows whether it happened: without key or probe a person is asked, and a key that is ignored does not help. */
const mayHaveHappened = { ...always, bare: '1, unknown', ignored: '2' } as const
const certain = { ...always, bare: '1', ignored: '1' } as const

const expected: Readonly<Record<Step, Readonly<Record<EffectKind, End>>>> = {
  'before the commit': certain,
  'after the commit': certain,
  reserved: certain,
  begun: { ...certain, bare: '0, unknown' },
  called: mayHaveHappened,
  answered: mayHaveHappened,
  recorded: certain,
  'hangs up': mayHaveHappened,
  'answers too late': mayHaveHappened,
}

describe.each([onSqlite, onPostgres, onMysql])('calls to a server, with their intents on $name', (store) => {
  test.skipIf(store.isMissing)(
    'the worker is killed at every step, and the server hangs up or answers too late: what it did is counted',
    async () => {
      await using provider = await openProvider({
        honoursKeys: (path) => !path.startsWith('ignored'),
        answering(path, nth) {
          if (nth > 1) return 'answer'
          if (path.endsWith('hangs up')) return 'hang-up'
          return path.endsWith('called') || path.endsWith('answers too late') ? 'when-gone' : 'answer'
        },
      })
      await using world = await store.open('inside')
      await using children = new AsyncDisposableStack()
      const start = (goesOn: boolean) =>
        children.adopt(
          new ConsumerChild({ database: world.database, provider: provider.url, goesOn }),
          async (child) => {
            await child.kill()
          },
        )
      const killed = start(false)
      const stops = deaths.slice(2).filter((step) => step !== 'called')
      for (const name of stops.flatMap((step) => kinds.map((kind) => effectName(kind, step))))
        await killed.until(({ message }) => message === name, `it stopped: ${name}`)
      for (const kind of kinds)
        await world.until(async () => provider.times(effectName(kind, 'called')) === 1, `The ${kind} call`)
      killed.go()
      await killed.until(({ message }) => message === 'before the commit', 'the last transaction')
      await killed.kill()
      expect(await statesIn(world)).toEqual({ 'after the commit': 0, reserved: 0, begun: 1, called: 1, answered: 1 })

      await expireLeases(world)
      const next = start(true)
      await next.heard('intended')
      await world.until(async () => (await intentsIn(world)).every(({ state }) => state === 'dead'), 'The end of all')
      await next.stop()
      expect(await endsOf(world, provider)).toEqual(expected)
      expect(provider.calls(effectName('keyed', 'called'))).toBe(2)
    },
  )
})

const intentsIn = ({ store }: World): Promise<readonly StoredParkedMessage[]> =>
  store.parking.list({ kind: 'intent' }, { limit: 1_000 })

/** Which steps are left behind, and how many attempts of each have begun. */
async function statesIn(world: World): Promise<Record<string, number>> {
  const rows = await intentsIn(world)
  return Object.fromEntries(rows.map(({ type, begun }) => [type.replace(/^\w+ /, ''), begun]))
}

/** As the time does that nobody wants to wait for here. */
async function expireLeases(world: World): Promise<void> {
  const rows = await intentsIn(world)
  const revisions = await world.store.parking.rebook(rows, 0)
  expect(revisions).not.toContain(undefined)
}

async function endsOf(world: World, provider: Provider): Promise<Record<string, Record<string, string>>> {
  const unknown = new Set((await intentsIn(world)).map(({ type, reason }) => `${type} ${reason}`))
  return Object.fromEntries(
    [...deaths, ...mischief].map((step) => [
      step,
      Object.fromEntries(
        kinds.map((kind) => {
          const name = effectName(kind, step)
          const isUnknown = unknown.has(`${name} INTENT_UNKNOWN`)
          return [kind, `${provider.times(name)}${isUnknown ? ', unknown' : ''}`]
        }),
      ),
    ]),
  )
}

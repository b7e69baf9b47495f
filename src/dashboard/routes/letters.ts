import type { RecordKey } from '../../contracts/index.ts'
import type { LetterGroup, RedriveOptions } from '../../operations/index.ts'
import { checkPermission } from '../guard.ts'
import { filterFrom, numberFrom, selectionFrom } from '../input.ts'
import { Refusal } from '../refusal.ts'
import type { Call, Route } from '../route.ts'
import { parkedRoutes } from './parked.ts'

const redriveSettings = ['canary', 'perSecond', 'stopAfterFailures']

export const letterRoutes: readonly Route[] = [
  ...parkedRoutes('letters', ({ letters }) => letters),
  {
    method: 'GET',
    path: 'api/letters/groups',
    needs: 'read',
    shared: true,
    run: async ({ operations, query }) =>
      await operations.letters.groups(filterFrom(query), numberFrom(query, 'limit')),
  },
  {
    // A list of letters is too long for an address.
    method: 'POST',
    path: 'api/letters/preview',
    needs: 'read',
    run: async ({ operations, input }) => await operations.letters.preview(selectionFrom((await input()).selection)),
  },
  {
    method: 'POST',
    path: 'api/letters/redrive',
    needs: 'operate',
    async run(call) {
      const given = await call.input()
      const selection = selectionFrom(given.selection)
      const edit = 'body' in given ? { body: await editedBody(call, given) } : {}
      const settings = Object.fromEntries(
        redriveSettings.filter((name) => name in given).map((name) => [name, given[name]]),
      )
      const options = { ...call.signed(given), ...settings, ...edit } as RedriveOptions
      return await call.operations.letters.redrive(selection, options)
    },
  },
  {
    method: 'POST',
    path: 'api/letters/annotate',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      await operations.letters.annotate(given.group as LetterGroup, given.note as string, signed(given))
      return {}
    },
  },
  {
    method: 'GET',
    path: 'api/redrives',
    needs: 'read',
    async run({ operations, query }) {
      const redrives = await operations.letters.redrives(numberFrom(query, 'limit') ?? 20)
      return await Promise.all(redrives.map(({ id }) => operations.letters.redriveStatus(id)))
    },
  },
  {
    method: 'GET',
    path: 'api/redrives/one',
    needs: 'read',
    run: async ({ operations, query }) => await operations.letters.redriveStatus(query.get('id') ?? ''),
  },
  {
    method: 'POST',
    path: 'api/redrives/stop',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { stopped: await operations.letters.stopRedrive(given.id as string, signed(given)) }
    },
  },
]

/** Somebody who has seen only a part of a body would write only that part back. */
async function editedBody(
  { access, operations, shown }: Call,
  given: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  checkPermission(access, 'bodies')
  const { selection } = given as { readonly selection?: RecordKey }
  const letter = await operations.letters.get(selection as RecordKey)
  if (letter === undefined) throw new Refusal(404, 'LETTERS_NONE_FOUND', 'There is no such dead letter.')
  if (shown.parked(letter).body.is === 'shown') return given.body
  throw new Refusal(409, 'BODY_REDACTED', 'The body is not shown as it is, so it cannot be edited here.')
}

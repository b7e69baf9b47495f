import type {
  DiscardOptions,
  LetterFilter,
  LetterSelection,
  Operations,
  Page,
  ParkedView,
} from '../operations/index.ts'
import type { Action, Desk } from './operator-command.ts'
import type { Column } from './output/table.ts'
import { counted } from './output/wording.ts'
import {
  filterFrom,
  filterOptions,
  pageFrom,
  pageOptions,
  selectionFrom,
  selectionOptions,
} from './selection-options.ts'
import { whileWorking } from './working-line.ts'

/** Dead letters, or messages that wait: what their commands do with both. */
export interface ParkedKind<View extends ParkedView> {
  /** What one of them is called. */
  readonly one: string
  of(operations: Operations): {
    list(filter: LetterFilter, page: Page): Promise<readonly View[]>
    discard(selection: LetterSelection, options: DiscardOptions): Promise<number>
  }
  /** What only these have: when they died, or are due. */
  readonly when: Column<View>
}

export function listAction<View extends ParkedView>(kind: ParkedKind<View>): Action {
  return {
    name: 'list',
    summary: 'lists them in the order in which they were parked',
    options: { ...filterOptions, ...pageOptions },
    async run(desk) {
      const rows = await kind.of(desk.operations).list(filterFrom(desk.given), pageFrom(desk.given))
      desk.show(rows, () => (rows.length === 0 ? 'There is none.\n' : parkedText(desk, kind, rows)))
      return 0
    },
  }
}

export function parkedText<View extends ParkedView>(
  desk: Pick<Desk, 'table'>,
  { when }: Pick<ParkedKind<View>, 'when'>,
  rows: readonly View[],
): string {
  return desk.table(rows, [
    { title: 'place', of: ({ sequence }) => sequence },
    { title: 'handler', of: ({ handler }) => handler, cut: true },
    { title: 'key', of: ({ key }) => key, cut: true },
    { title: 'type', of: ({ type }) => type, cut: true, spare: true },
    { title: 'tries', of: ({ attempts }) => attempts },
    when,
    { title: 'reason', of: ({ reason }) => reason, cut: true },
    { title: 'error', of: ({ errors }) => errors.at(-1)?.message, cut: true },
  ])
}

/** `countedFirst`: how many there are, where somebody can say that before. */
export function discardAction<View extends ParkedView>(
  kind: ParkedKind<View>,
  {
    summary,
    countedFirst,
  }: { readonly summary: string; countedFirst?(desk: Desk, selection: LetterSelection): Promise<number> },
): Action {
  return {
    name: 'discard',
    summary,
    options: selectionOptions,
    check: (given) => void selectionFrom(given),
    changes: true,
    asks: true,
    async run(desk) {
      const { operations, given, signed, show, confirm } = desk
      const selection = selectionFrom(given)
      const count = await countedFirst?.(desk, selection)
      const which = count === undefined ? 'These messages' : counted(count, kind.one)
      await confirm(`${which} will be gone for good. Discard?`)
      const discarded = await whileWorking(desk.terminal.err, 'Discarding', (line) => {
        const progress = (gone: number): void =>
          line.show(`${gone}${count === undefined ? '' : ` of ${count}`} discarded`)
        return kind.of(operations).discard(selection, { ...signed, progress })
      })
      show({ discarded }, () => `${counted(discarded, kind.one)} discarded.\n`)
      return discarded > 0 ? 0 : 1
    },
  }
}

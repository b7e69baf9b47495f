import type { ParkedEdit, ParkedFilter, RecordKey } from '../../contracts/index.ts'
import type { SearchedRow } from './parked-row.ts'
import { nameOf, search } from './parked-search.ts'
import { takeScript } from './scripts/parking.ts'
import type { Transaction } from './transaction.ts'
import type { Transactions } from './transactions.ts'

const atOnce = 500

/** Locks the rows that match and have not changed since they were found; the commit edits them. */
export async function editRows<Tx extends object>(
  { connection, leaseMs }: Pick<Transactions<Tx>, 'connection' | 'leaseMs'>,
  transaction: Transaction,
  filter: ParkedFilter,
  { edit, limit }: { readonly edit: ParkedEdit; readonly limit: number },
): Promise<RecordKey[]> {
  const edited: RecordKey[] = []
  let found: SearchedRow[] = []
  const take = async (): Promise<void> => {
    if (found.length === 0) return
    const asked = found.flatMap((row) => [nameOf(row), row.revision ?? ''])
    for (const row of found) transaction.asked.locks.add(`row:${nameOf(row)}`)
    const answers = (await connection.run(takeScript, transaction.token, leaseMs, ...asked)) as unknown[]
    for (const [place, row] of found.entries()) {
      if (Number(answers[place]) !== 1) continue
      transaction.locks.add(`row:${nameOf(row)}`)
      transaction.steps.push({ kind: 'edit', name: nameOf(row), edit })
      edited.push({ handler: row.handler ?? '', key: row.key ?? '' })
    }
    found = []
  }
  if (limit <= 0) return []
  for await (const row of search(connection, filter, 0, ownEdits(transaction))) {
    found.push(row)
    if (found.length === Math.min(atOnce, limit - edited.length)) await take()
    if (edited.length === limit) break
  }
  await take()
  return edited
}

/** Applies the edits that this transaction has made to a row and nobody else can see yet. */
function ownEdits({ steps }: Transaction): (row: SearchedRow) => SearchedRow | undefined {
  const own = new Map<string, ParkedEdit[]>()
  for (const step of steps) if (step.kind === 'edit') own.set(step.name, [...(own.get(step.name) ?? []), step.edit])
  return (row) => (own.get(nameOf(row)) ?? []).reduce<SearchedRow | undefined>(after, row)
}

function after(row: SearchedRow | undefined, edit: ParkedEdit): SearchedRow | undefined {
  if (row === undefined || edit.kind === 'remove') return undefined
  if (edit.kind === 'mark') return { ...row, redrive: edit.redrive, released: '0' }
  return edit.kind === 'release' ? { ...row, state: 'waiting', attempts: '0', released: '1' } : row
}

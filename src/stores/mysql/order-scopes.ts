import { hash } from 'node:crypto'
import type { OrderScope } from '../../contracts/index.ts'
import { nowMs, textIn } from './literals-and-cells.ts'
import type { Runner } from './runner.ts'
import { foundByValue, inChunks } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/**
 * Locks a row for each scope until the transaction ends. Existing rows stay, so that the next time there is only a lock to
 * wait for; retention removes old rows. All rows are locked in the same order, so that two transactions never deadlock.
 */
export async function lockScopes(
  runner: Runner,
  { scopes: table }: Tables,
  scopes: readonly OrderScope[],
): Promise<void> {
  const numbers = [...new Set(scopes.map(numberOf))].sort((a, b) => (a < b ? -1 : 1)).map(String)
  for (const chunk of inChunks(numbers)) {
    const { rows } = await runner.run(`SELECT known.scope FROM ${foundByValue(table, 'scope', chunk)} FOR UPDATE`)
    const held = new Set(rows.map(([scope]) => textIn(scope)))
    const missing = chunk.filter((scope) => !held.has(scope)).map((scope) => `(${scope}, ${nowMs})`)
    if (missing.length === 0) continue
    await runner.run(
      `INSERT INTO ${table} (scope, made_at) VALUES ${missing.join(', ')} ON DUPLICATE KEY UPDATE scope = ${table}.scope`,
    )
  }
}

/** Two scopes with the same number would only wait for each other. */
function numberOf({ handler, orderKey }: OrderScope): bigint {
  return hash('sha256', JSON.stringify([handler, orderKey]), 'buffer').readBigUInt64BE()
}

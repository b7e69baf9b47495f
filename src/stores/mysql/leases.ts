import type { Leases } from '../../contracts/index.ts'
import { bytes, integer, nowMs, numberIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { laterMs } from './parking-statements.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { textValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlLeases<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  { leases }: Tables,
): Leases {
  /** Whoever has locked the row decides alone. */
  const locked = async (runner: Runner, name: string) => {
    const { rows } = await runner.run(
      `SELECT fence, held_until > ${nowMs}, ${nowMs} * 1000 FROM ${leases} WHERE name = ${textValue(name)} FOR UPDATE`,
    )
    const [fence, isHeld, micros] = rows[0] ?? []
    if (rows[0] === undefined) return undefined
    return { fence: numberIn(fence), isHeld: numberIn(isHeld) === 1, micros: numberIn(micros) }
  }
  const change = (name: string, fence: number, held: string, also = '') =>
    short.run(async (runner) => {
      const row = await locked(runner, name)
      if (row === undefined || row.fence !== fence || !row.isHeld) return false
      await runner.run(`UPDATE ${leases} SET held_until = ${held}${also} WHERE name = ${bytes(name)}`)
      return true
    })
  return {
    acquire: (name, leaseMs) =>
      short.run(async (runner) => {
        await runner.run(
          `INSERT INTO ${leases} (name, fence, lease_ms, held_until) VALUES (${textValue(name)}, 0, 0, 0)
           ON DUPLICATE KEY UPDATE name = ${leases}.name`,
        )
        const row = await locked(runner, name)
        if (row?.isHeld)
          // None ends later than its length from now, unless the clock was ahead when it was taken.
          await runner.run(
            `UPDATE ${leases} SET held_until = LEAST(held_until, ${nowMs} + lease_ms) WHERE name = ${bytes(name)}`,
          )
        if (row === undefined || row.isHeld) return undefined
        const fence = Math.max(row.fence + 1, row.micros)
        await runner.run(
          `UPDATE ${leases} SET fence = ${fence}, lease_ms = ${integer(leaseMs)}, held_until = ${laterMs(leaseMs)}
           WHERE name = ${bytes(name)}`,
        )
        return { fence }
      }),
    renew: (name, fence, leaseMs) => change(name, fence, laterMs(leaseMs), `, lease_ms = ${integer(leaseMs)}`),
    release: (name, fence) => change(name, fence, '0'),
  }
}

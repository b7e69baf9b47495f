import type { Leases } from '../../contracts/index.ts'
import type { ConnectionSource } from './connection.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** By the clock at the moment itself: a statement that has waited for a rival must not go by the time it began. */
export function postgresLeases<Tx>(source: Pick<ConnectionSource<Tx>, 'runAlone'>, { leases }: Tables): Leases {
  const later = (ms: string) => `clock_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const isHeld = 'name = $1::text AND fence = $2::bigint AND expires_at > clock_timestamp()'
  const micros = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'
  const acquire = statement(
    `INSERT INTO ${leases} AS known (name, fence, expires_at) VALUES ($1::text, ${micros}, ${later('$2')})
     ON CONFLICT (name) DO UPDATE SET fence = greatest(known.fence + 1, ${micros}), expires_at = ${later('$2')}
     WHERE known.expires_at <= clock_timestamp() RETURNING fence`,
  )
  const renew = statement(`UPDATE ${leases} SET expires_at = ${later('$3')} WHERE ${isHeld}`)
  const release = statement(`UPDATE ${leases} SET expires_at = '-infinity' WHERE ${isHeld}`)
  return {
    async acquire(name, leaseMs) {
      const { rows } = await source.runAlone(acquire, [name, String(leaseMs)])
      const fence = rows[0]?.[0]
      return fence === undefined ? undefined : { fence: Number(fence) }
    },
    async renew(name, fence, leaseMs) {
      const { count } = await source.runAlone(renew, [name, String(fence), String(leaseMs)])
      return count === 1
    },
    async release(name, fence) {
      const { count } = await source.runAlone(release, [name, String(fence)])
      return count === 1
    },
  }
}

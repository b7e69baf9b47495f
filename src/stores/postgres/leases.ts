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
    `INSERT INTO ${leases} AS known (name, fence, lease_ms, expires_at)
       VALUES ($1::text, ${micros}, $2::float8, ${later('$2')})
     ON CONFLICT (name) DO UPDATE SET fence = greatest(known.fence + 1, ${micros}), lease_ms = excluded.lease_ms,
       expires_at = ${later('$2')}
     WHERE known.expires_at <= clock_timestamp() RETURNING fence`,
  )
  // None ends later than its length from now, unless the clock was ahead when it was taken.
  const shorten = statement(
    `UPDATE ${leases} SET expires_at = ${later('lease_ms')} WHERE name = $1::text AND expires_at > ${later('lease_ms')}`,
  )
  const renew = statement(`UPDATE ${leases} SET lease_ms = $3::float8, expires_at = ${later('$3')} WHERE ${isHeld}`)
  const release = statement(`UPDATE ${leases} SET expires_at = '-infinity' WHERE ${isHeld}`)
  return {
    async acquire(name, leaseMs) {
      const { rows } = await source.runAlone(acquire, [name, String(leaseMs)])
      const fence = rows[0]?.[0]
      if (fence !== undefined) return { fence: Number(fence) }
      await source.runAlone(shorten, [name])
      return undefined
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

import { deliveries } from './tenants.ts'

/** Spreads messages evenly. The copies of one message reach different databases, and each of them is the first there. */
export function naive(): string {
  const databases = [new Set<string>(), new Set<string>()]
  for (const [arrival, { id, tenant }] of deliveries.entries())
    if (tenant !== 'ghost') databases[(arrival + Math.floor(arrival / 30)) % 2]?.add(id)
  return databases.map((bookings, index) => `database ${index + 1} has ${bookings.size}`).join(', ')
}

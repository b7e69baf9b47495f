const regions: Readonly<Record<string, string>> = { acme: 'eu', beta: 'us', corp: 'eu' }

export function shardOfTenant(tenant: string | undefined): string {
  return regions[tenant ?? ''] ?? 'nowhere'
}

const orders = ['acme', 'beta', 'corp'].flatMap((tenant) =>
  Array.from({ length: 10 }, (_, index) => ({ id: `${tenant}-${index}`, tenant })),
)

/** Everything twice, and one of a tenant that nobody knows. */
export const deliveries = [...orders, ...orders, { id: 'ghost-1', tenant: 'ghost' }]

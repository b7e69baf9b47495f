/** A service of the chain: B reads what A has sent and publishes for C, and C reads that. */
export type Role = 'b' | 'c'

export type Database =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

/** How messages get from A to B, and from B to C. */
export type Way =
  | { readonly kind: 'queue' }
  | { readonly kind: 'rabbitmq'; readonly url: string }
  | { readonly kind: 'kafka'; readonly servers: string }

export interface ServiceConfig {
  readonly role: Role
  readonly database: Database
  readonly way: Way
  /** B gives its messages ids that it makes of those of A: whatever it forgets, it sends the same again. */
  readonly namesMessages?: boolean
}

/** The queue or topic that each service reads. */
export const inputOf = { b: 'chain-a-to-b', c: 'chain-b-to-c' } as const

export const typeFor = { b: 'a.sent', c: 'b.done' } as const

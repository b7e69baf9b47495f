export interface Line {
  readonly order: string
  readonly item: string
  readonly amount: number
}

const line = (order: string): Line => ({ order, item: 'pen', amount: 4 })

/** There are 10 pens. */
export const arrivals = [
  { id: 'm1', type: 'order.placed', body: line('o1') },
  { id: 'm2', type: 'order.placed', body: line('o2') },
  { id: 'm3', type: 'order.placed', body: line('o3') }, // only 2 are left
  { id: 'm4', type: 'order.cancelled', body: line('o3') }, // it holds nothing
  { id: 'm5', type: 'order.cancelled', body: line('o2') },
  { id: 'm6', type: 'parcel.sent', body: line('o1') },
] as const

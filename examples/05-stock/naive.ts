import { arrivals } from './arrivals.ts'

/** Takes the amount of every order from the stock, and puts that of every cancelled one back. */
export function naive(): string {
  let free = 10
  let lowest = free
  for (const { type, body } of arrivals.flatMap((each) => [each, each])) {
    if (type === 'order.placed') free -= body.amount
    if (type === 'order.cancelled') free += body.amount
    lowest = Math.min(lowest, free)
  }
  return `${lowest} free, and later ${free}`
}

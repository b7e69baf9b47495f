/** Writes the state that the message names. A late or repeated message leads an order back. */
export function naive(): string {
  const order = { state: 'new' }
  for (const state of ['paid', 'shipped', 'cancelled', 'paid']) order.state = state
  return order.state
}

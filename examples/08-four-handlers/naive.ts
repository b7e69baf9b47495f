/** The message goes back to its queue, and its four handlers run from the first one on. */
export function naive(): string {
  const settlements = new Map<string, number>()
  let isStockServiceDown = true
  const consume = (): boolean => {
    for (const name of ['Ha', 'Hb', 'Hc', 'Hd']) {
      if (name === 'Hc' && isStockServiceDown) return false
      settlements.set(name, (settlements.get(name) ?? 0) + 1)
    }
    return true
  }
  consume()
  isStockServiceDown = false
  consume() // requeued from the error queue
  return [...settlements].map(([name, times]) => `${name} ${times}×`).join(', ')
}

/** `SET id NX EX 604800`, then the work. The process dies once in between, and later the keys are gone. */
export function naive(ids: readonly string[]): readonly string[] {
  const redis = new Set<string>()
  const bookings: string[] = []
  const consume = (id: string, dies: boolean): void => {
    if (redis.has(id)) return // "processed": acknowledged
    redis.add(id)
    if (dies) return // killed here: nobody deletes the key
    bookings.push(id)
  }
  for (const id of ids) consume(id, id === 'p-3')
  for (const id of ids) consume(id, false) // p-3 is delivered again, and skipped: lost
  redis.clear()
  consume('p-1', false) // a late copy, after the keys have expired: twice
  return bookings.toSorted()
}

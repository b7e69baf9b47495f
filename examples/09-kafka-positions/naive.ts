/** Books, and tells the broker the position afterwards. What the broker does not know comes again. */
export function naive(): string {
  const topic = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
  const bookings: number[] = []
  let position = 0
  const consume = (): void => {
    for (const amount of topic.slice(position)) bookings.push(amount)
    position = topic.length
  }
  consume()
  const first = bookings.length
  position = 0 // the commit of the position was lost
  topic.push(11, 12)
  consume()
  return `${first} bookings, then ${bookings.length}`
}

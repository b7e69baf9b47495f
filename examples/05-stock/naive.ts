/** Takes the amount of every delivery from the stock. */
export function naive(): string {
  let free = 10
  const arrivals = ['o1', 'o1', 'o2', 'o2', 'o3', 'o3']
  for (const _ of arrivals) free -= 4
  return `${free} free`
}

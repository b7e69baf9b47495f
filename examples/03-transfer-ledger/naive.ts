import { setImmediate } from 'node:timers/promises'

/** Consumers A and B get the same message. Both ask for its state before either has stored it, and both add 100. */
export async function naive(): Promise<string> {
  const processed = new Set<string>()
  const balances = { ada: 50_000, bob: 50_000 }
  const consume = async (id: string, cents: number): Promise<void> => {
    if (processed.has(id)) return // t0: A reads "no" … t1: B reads "no"
    await setImmediate()
    balances.ada -= cents
    balances.bob += cents
    processed.add(id)
  }
  await Promise.all([consume('t-8', 10_000), consume('t-8', 10_000), consume('t-8', 10_000)])
  return `ada ${balances.ada}, bob ${balances.bob}`
}

import type { Scenario } from './scenario.ts'

/** The same world with more messages of two handlers, the first of which is content with at least once. `outside`: without a transaction, too. */
export function loose({ deployAt, ...scenario }: Scenario, outside = false): Scenario {
  const messages = scenario.messages.map((message, index) =>
    index % 2 === 0 ? { ...message, type: 'double' as const } : message,
  )
  return { ...scenario, messages, loose: true, outside }
}

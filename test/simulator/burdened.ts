import { Random } from './random.ts'
import type { Scenario, ScenarioMessage } from './scenario.ts'

/** What the simulated store can keep of a message, envelope and body together. */
export const messageBytes = 20_000

/** Text that the simulated database refuses in a column, as real ones do. */
const hostileKeys = ['\0\0\0\u0001', 'k\0', 'x'.repeat(12_000), `${'x'.repeat(12_000)}y`]

/**
 * The same world with messages that the store cannot hold, and with handlers whose own statements fail as if the store
 * were away.
 */
export function burdened(scenario: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 69_621 + 11)
  return { ...scenario, messages: scenario.messages.map((message) => burden(random, message, scenario)) }
}

function burden(random: Random, message: ScenarioMessage, { mendedAt, shape }: Scenario): ScenarioMessage {
  const kind = random.pick(['none', 'none', 'looks-away', 'cuts-always', 'cuts-once', 'key', 'key', 'large'] as const)
  switch (kind) {
    case 'none':
      return message
    case 'key':
      return { ...message, key: random.pick(hostileKeys) }
    case 'large':
      // Of what was too large to be kept nobody can redrive more than a note. A queue keeps what waits for a dead letter of
      // its key, and is never empty then.
      // And a queue in the database refuses it when it is sent.
      return mendedAt === undefined && shape !== 'database' && !(shape === 'queue' && message.type === 'ordered')
        ? { ...message, large: true }
        : message
    default:
      return { ...message, behaviour: kind }
  }
}

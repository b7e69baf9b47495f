import { violations } from './invariants.ts'
import type { OutgoingPlan } from './plan.ts'
import { type OutgoingProgram, realApp } from './real-app.ts'
import { OutgoingWorld } from './world.ts'

export async function simulateOutgoing(
  plan: OutgoingPlan,
  program: OutgoingProgram = realApp,
  tracing = false,
): Promise<{ readonly violations: readonly string[]; readonly world: OutgoingWorld }> {
  const world = new OutgoingWorld(plan, program, tracing)
  const rested = await world.run()
  return { violations: violations(world, rested), world }
}

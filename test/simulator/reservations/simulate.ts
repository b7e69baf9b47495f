import { violations } from './invariants.ts'
import type { ReservationPlan } from './plan.ts'
import { type ReservationProgram, realApp } from './real-app.ts'
import { ReservationWorld, type ResourceIn } from './world.ts'

export async function simulateReservations(
  plan: ReservationPlan,
  {
    program = realApp,
    participantOf,
  }: { readonly program?: ReservationProgram; readonly participantOf?: ResourceIn } = {},
  tracing = false,
): Promise<{ readonly violations: readonly string[]; readonly world: ReservationWorld }> {
  const world = new ReservationWorld(plan, program, participantOf, tracing)
  const rested = await world.run()
  return { violations: violations(world, rested), world }
}

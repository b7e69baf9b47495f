import { resources } from './plan.ts'
import { type Books, ordersTable, outcomesTable, stepsTable } from './real-app.ts'
import type { ReservationWorld } from './world.ts'

/** Everything that must be true when the world has come to rest. */
export function violations(world: ReservationWorld, rested: boolean): string[] {
  const { databases, plan } = world
  const outcomes = new Map(
    databases.orders.scan(undefined, outcomesTable).map(({ key, row }) => [key, row.outcome as string]),
  )
  // What was ordered in a history that the database has lost is unknown to everybody.
  const orders = databases.orders.scan(undefined, ordersTable).map(({ key }) => key)
  return [
    ...(rested ? [] : ['STUCK: the world did not come to rest']),
    ...orders.flatMap((id) => aboutOrder(world, id, outcomes.get(id))),
    ...(plan.restore === undefined ? aboutBooks(world) : []),
  ]
}

function aboutOrder({ databases }: ReservationWorld, id: string, outcome: string | undefined): string[] {
  const found: string[] = []
  const ends = resources.map((name) => {
    const steps = databases[name].scan(undefined, stepsTable).filter(({ row }) => row.id === id)
    const times = (step: string) => steps.filter(({ row }) => row.step === step).length
    const [tried, confirmed, cancelled] = [times('try'), times('confirm'), times('cancel')]
    if (tried > 1 || confirmed > 1 || cancelled > 1)
      found.push(`DOUBLED: a step of ${name} for ${id} took effect twice`)
    if (tried > confirmed + cancelled) found.push(`HELD: ${name} is set aside for ${id} for ever`)
    if (tried < confirmed + cancelled) found.push(`TORN: ${name} has ended more for ${id} than it had set aside`)
    return confirmed > 0 ? 'confirmed' : 'cancelled'
  })
  if (new Set(ends).size > 1) found.push(`MIXED: for ${id} stock is ${ends[0]} and credit is ${ends[1]}`)
  if (outcome === undefined) found.push(`LOST: nobody was told what has become of ${id}`)
  else if (ends.some((end) => end !== outcome))
    found.push(`REPORTED: ${id} is ${outcome}, but was ${ends.join(' and ')}`)
  return found
}

/** Nothing is held any more, and nothing is made or lost. */
function aboutBooks({ databases, plan }: ReservationWorld): string[] {
  return resources.flatMap((name) => {
    const { free, held, taken } = databases[name].read(undefined, 'books', 'books') as Books
    const found: string[] = []
    if (held !== 0) found.push(`HELD: ${held} of ${name} are set aside for ever`)
    if (free + held + taken !== plan.free[name])
      found.push(`TORN: of ${plan.free[name]} ${name} there are ${free} free, ${held} held and ${taken} taken`)
    return found
  })
}

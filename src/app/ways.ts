import type { Publisher, Store, Subscriber, Transport } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { checkRoutes, type Routes } from '../outgoing/routes.ts'

/** Where messages come from, and where they can go. */
export interface WayOptions {
  /** Where messages come from and go to: short for `from` and `to` with the same driver. */
  readonly transport?: Transport
  /** Where messages come from: a driver, or several by name. */
  readonly from?: Subscriber | Readonly<Record<string, Subscriber>>
  /** Where messages can go: a driver, or several by name. */
  readonly to?: Publisher | Readonly<Record<string, Publisher>>
  /**
   * Which type of message goes where: `{ 'note.created': 'events', 'audit.*': 'audit', '*': 'events' }`. The most
   * specific route wins, and publishing a type without a route is refused. Not needed if there is only one destination.
   */
  readonly routes?: Routes
}

/** The resolved options. */
export interface Ways {
  readonly from: readonly Subscriber[]
  readonly to: Readonly<Record<string, Publisher>>
  readonly routes: Routes | undefined
}

export function decideWays({ transport, from, to, routes }: WayOptions): Ways {
  if (transport !== undefined && (from !== undefined || to !== undefined))
    throw invalid('justonce() was given transport beside from or to. It is short for both: give one or the other.')
  if (transport !== undefined) checkTransport(transport)
  const given = { from: from ?? transport, to: to ?? transport }
  const subscribers = named(given.from, isSubscriber, 'from', 'messages come from')
  const publishers = named(given.to, isPublisher, 'to', 'messages go to')
  const destinations = Object.keys(publishers)
  for (const name of destinations) checkDestination(name)
  if (routes !== undefined) checkRoutes(routes, destinations)
  else if (destinations.length > 1)
    throw invalid(`to has ${destinations.join(', ')}, but without routes nobody knows which message goes where.`)
  return { from: Object.values(subscribers), to: publishers, routes }
}

/** Every driver once, including those that are both. */
export function driversOf({ from, to }: Ways): readonly (Subscriber | Publisher)[] {
  return [...new Set([...from, ...Object.values(to)])]
}

/** Refuses to send a message that would come back to an app that has no handler for it, and become a dead letter there. */
export function returnCheck(
  { from }: Ways,
  handles: (type: string) => boolean,
): (type: string, destination: { readonly publisher: Publisher }) => void {
  const returning = new Set(
    from.filter((each) => 'destination' in each && each.destination === each.name) as unknown as Publisher[],
  )
  return (type, { publisher }) => {
    if (!returning.has(publisher) || handles(type)) return
    throw new JustonceError('ROUTE_UNKNOWN', {
      message: `Messages of type ${type} would go to ${publisher.destination}, which this app reads itself, and it has no handler for them.`,
    })
  }
}

function named<Driver extends object>(
  given: Driver | Readonly<Record<string, Driver>> | undefined,
  isDriver: (value: unknown) => value is Driver,
  option: string,
  what: string,
): Readonly<Record<string, Driver>> {
  if (given === undefined) return {}
  if (isDriver(given)) return { [nameOf(given)]: given }
  const entries = typeof given === 'object' && given !== null ? Object.entries(given) : undefined
  const wrong = entries?.find(([, driver]) => !isDriver(driver))
  if (entries === undefined || wrong !== undefined) {
    const where = wrong === undefined ? option : `${option}.${wrong[0]}`
    throw invalid(`${where} is ${typeof (wrong?.[1] ?? given)}, but must be a driver that ${what}.`)
  }
  return Object.fromEntries(entries)
}

function checkTransport(transport: unknown): void {
  if (isSubscriber(transport) && isPublisher(transport)) return
  if (isSubscriber(transport)) throw invalid(`${transport.name} only brings messages: give it as from.`)
  if (isPublisher(transport)) throw invalid(`${transport.destination} only takes messages: give it as to.`)
  throw invalid(
    typeof transport === 'string'
      ? 'transport is text, but must be a driver, such as rabbitmqTransport({ client, url, queue }).'
      : `transport is ${typeof transport}, but must be a driver.`,
  )
}

function nameOf(driver: object): string {
  const { destination, name } = driver as Partial<Transport>
  return destination ?? name ?? ''
}

function isSubscriber(value: unknown): value is Subscriber {
  return typeof (value as Partial<Subscriber> | undefined)?.deliveries === 'function'
}

function isPublisher(value: unknown): value is Publisher {
  return typeof (value as Partial<Publisher> | undefined)?.publish === 'function'
}

function checkDestination(name: string): void {
  if (!/^[^\p{C}]{1,90}$/u.test(name))
    throw invalid(`The destination ${JSON.stringify(name)} has not 1 to 90 printable characters.`)
}

/** Settling inside transactions, if the messages come from the app's own store. */
export function insideOf(store: Store, subscriber: Subscriber): Subscriber['inside'] {
  return subscriber.inside?.store === store ? subscriber.inside : undefined
}

function invalid(message: string): JustonceError {
  return new JustonceError('OPTION_INVALID', { message })
}

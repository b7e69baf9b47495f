import type { JoinedStore, Queue } from '../../contracts/index.ts'
import type { Connections } from './connection.ts'
import type { Home } from './home.ts'
import type { PostgresStore } from './postgres-store.ts'

/** A store that looks up where its tables are at its first use. `sketch` is a store that does not know it. */
export function atHome<Tx>(
  sketch: PostgresStore<Tx>,
  home: Home<Tx, PostgresStore<Tx>>,
  connections: Pick<Connections<Tx>, 'join'>,
): PostgresStore<Tx> {
  const part = <Name extends keyof PostgresStore<Tx>>(name: Name): PostgresStore<Tx>[Name] =>
    later(
      sketch[name] as object,
      () => home.known?.[name],
      async () => (await home.find())[name],
    ) as never

  return {
    ...sketch,
    transaction: (work, options) =>
      home.known?.transaction(work, options) ?? home.find().then((found) => found.transaction(work, options)),
    lend: (tx, options) => (home.known ?? sketch).lend(tx, options),
    setLockTimeout: async (tx, lockTimeoutMs) => await (home.known ?? sketch).setLockTimeout?.(tx, lockTimeoutMs),
    within: (tx) => home.known?.within(tx) ?? joining(tx),
    parts: part('parts'),
    inbox: part('inbox'),
    parking: part('parking'),
    facts: part('facts'),
    positions: part('positions'),
    retention: part('retention'),
    // Notifications need no table.
    queue: { ...part('queue'), ...picked(sketch.queue) },
    schema: { ...sketch.schema, check: () => (home.known ?? sketch).schema.check() },
    ping: async () => await (home.known ?? (await home.find())).ping(),
  }

  /** Asks on the caller's connection, because it may be the only one. */
  function joining(tx: Tx): JoinedStore<Tx> {
    const joined = sketch.within(tx)
    const found = async (): Promise<JoinedStore<Tx>> => (await home.find(connections.join(tx))).within(tx)
    return {
      ...joined,
      savepoint: async (work) => await (await found()).savepoint(work),
      lend: (lent, options) => (home.known?.within(tx) ?? joined).lend(lent, options),
      inbox: later(
        joined.inbox,
        () => home.known?.within(tx).inbox,
        async () => (await found()).inbox,
      ),
    }
  }
}

function picked<Tx>({ listen, announce }: Queue<Tx>): Partial<Queue<Tx>> {
  return { ...(listen && { listen }), ...(announce && { announce }) }
}

type Method = (...values: unknown[]) => unknown

/** The same members, each asynchronous, waiting until the real part is known. */
function later<Part extends object>(sketch: Part, known: () => unknown, find: () => Promise<unknown>): Part {
  const members = Object.entries(sketch).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member]
    const call = (part: unknown, values: unknown[]): unknown =>
      ((part as Record<string, Method>)[name] as Method)(...values)
    const method: Method = (...values) => {
      const part = known()
      return part === undefined ? find().then((found) => call(found, values)) : call(part, values)
    }
    return [name, method]
  })
  return Object.fromEntries(members) as Part
}

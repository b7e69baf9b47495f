import { setTimeout as pause } from 'node:timers/promises'
import type { Transport } from '../contracts/index.ts'
import type { CaseOutcome } from './run-store-case.ts'
import type { TransportCase, TransportCaseContext, TransportNeed } from './transport-case.ts'

const needs: Record<
  TransportNeed,
  { met(transport: Transport, context: TransportCaseContext): boolean; readonly without: string }
> = {
  competing: {
    met: ({ capabilities }) => capabilities.order !== 'lane',
    without: 'a lane belongs to one consumer at a time',
  },
  count: {
    met: ({ capabilities }) => capabilities.deliveryCount === 'count',
    without: 'the transport does not count deliveries',
  },
  'count-or-flag': {
    met: ({ capabilities }) => capabilities.deliveryCount !== 'none',
    without: 'the transport does not tell redeliveries',
  },
  'key-order': {
    met: ({ capabilities }) => capabilities.order === 'key',
    without: 'the transport keeps no order within a key',
  },
  'lane-order': { met: ({ capabilities }) => capabilities.order === 'lane', without: 'the transport has no lanes' },
  inside: { met: ({ inside }) => inside !== undefined, without: 'the transport does not live in a store' },
  positions: {
    met: ({ positions }) => positions !== undefined,
    without: 'the transport has no positions',
  },
  death: {
    met: (_, { connectMortal }) => connectMortal !== undefined,
    without: 'the driver gives no connectMortal',
  },
  refusal: {
    met: (_, { refused }) => refused !== undefined,
    without: 'the driver names nothing that is refused',
  },
  'byte-limit': {
    met: (_, { limitsBytes }) => limitsBytes === true,
    without: 'the driver does not say that it limits bytes',
  },
}

/** Opens a context for the case, runs the case in it and closes it again. Rejects if the transport fails the case. */
export async function runTransportCase(
  each: TransportCase,
  open: () => Promise<TransportCaseContext>,
): Promise<CaseOutcome> {
  const context = await open()
  try {
    const reason = await unmetNeed(each, context)
    if (reason === undefined) await each.run(context)
    await context.close()
    return reason === undefined ? { kind: 'passed' } : { kind: 'skipped', reason }
  } catch (error) {
    // A failed case may have left readers open. Closing could then wait forever and hide the failure.
    await Promise.race([context.close().catch(() => {}), pause(2_000, undefined, { ref: false })])
    throw error
  }
}

async function unmetNeed(each: TransportCase, context: TransportCaseContext): Promise<string | undefined> {
  if (each.needs === undefined) return undefined
  const transport = await context.connect()
  const missing = each.needs.find((need) => !needs[need].met(transport, context))
  await transport.close()
  return missing === undefined ? undefined : needs[missing].without
}

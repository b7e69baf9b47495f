import { BankWithReferences, GatewayWithKeys } from './gateways.ts'

/** Calls the provider in the handler. An answer that got lost looks like a call that failed, so the message comes again. */
export async function naive(): Promise<string> {
  const card = new GatewayWithKeys()
  const bank = new BankWithReferences()
  await untilItSucceeds(() => card.charge(12))
  await untilItSucceeds(() => bank.transfer(250_000, 'house'))
  return `${card.charges.length} card charges, ${bank.transfers.length} bank transfers`
}

async function untilItSucceeds(handler: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await handler()
    } catch {
      // the broker delivers it again
    }
  }
}

import { type DashboardServer, serveDashboard } from '../src/dashboard/index.ts'
import { operations } from '../src/operations/index.ts'
import { type BankPlace, openBank } from './bank.ts'

/** The dashboard of a side. It looks at the database from outside, as an operator does. */
export async function openDashboard(place: BankPlace): Promise<DashboardServer> {
  const bank = await openBank(place)
  const serve = (port: number | undefined) => serveDashboard(operations(bank.store), { port, by: 'you' })
  // Somebody may have another one open.
  const server = await serve(undefined).catch(() => serve(0))
  return {
    url: server.url,
    async close() {
      await server.close()
      await bank.close()
    },
  }
}

import pg from 'pg'

export interface Trips {
  roundTrips: number
  statements: number
}

/** A pool whose clients count what goes to the database. `pg` sends nothing before the last answer is there, so each call is a round trip. */
export function countingPool(url: string, max: number): { readonly pool: pg.Pool; readonly trips: Trips } {
  const trips: Trips = { roundTrips: 0, statements: 0 }
  class CountingClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: passes everything on, whichever of the overloads it is
    override query(...given: any[]): any {
      const text: string = typeof given[0] === 'string' ? given[0] : given[0].text
      trips.roundTrips++
      trips.statements += countStatements(text)
      return Reflect.apply(super.query, this, given)
    }
  }
  return { pool: new pg.Pool({ connectionString: url, max, Client: CountingClient }), trips }
}

/** Good enough for statements that have no semicolon inside of a text. */
function countStatements(text: string): number {
  return text.split(';').filter((statement) => statement.trim() !== '').length
}

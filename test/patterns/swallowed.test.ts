import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  deleteOnce,
  reserve,
  softDelete,
  transition,
  updateIf,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { rowsOf } from './domain.ts'
import { type Place, places } from './places.ts'

/** MySQL has neither triggers nor policies that leave a row as it is without an error. */
const ways = Object.entries(places).filter(([name]) => name !== 'mysql2')

for (const [name, { isHere, open }] of ways) {
  describe.skipIf(!isHere)(`changes that a trigger swallows on ${name}`, () => {
    let place: Place
    const table = () => place.table('guarded')
    beforeAll(async () => {
      place = await open()
      await place.exec(
        `CREATE TABLE {}guarded (id int PRIMARY KEY, state varchar(10), free int, held int, version int, deleted_at varchar(10));
        INSERT INTO {}guarded VALUES (1, 'new', 5, 0, 1, null)`,
      )
      await place.exec(
        place.dialect === 'postgres'
          ? `CREATE FUNCTION {}swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
            CREATE TRIGGER guard BEFORE UPDATE OR DELETE ON {}guarded FOR EACH ROW EXECUTE FUNCTION {}swallow()`
          : `CREATE TRIGGER no_update BEFORE UPDATE ON guarded BEGIN SELECT raise(ignore); END;
            CREATE TRIGGER no_delete BEFORE DELETE ON guarded BEGIN SELECT raise(ignore); END`,
      )
    })
    afterAll(() => place.close())

    const unique = ['id']
    test.each<[string, (tx: unknown) => Promise<unknown>]>([
      ['transition', (tx) => transition<string>(tx, table(), { id: 1 }, { from: 'new', to: 'paid' })],
      ['updateIf', (tx) => updateIf(tx, table(), { id: 1 }, { if: { free: 5 }, set: { free: 4 } })],
      ['updateVersioned', (tx) => updateVersioned(tx, table(), { id: 1 }, { version: 1, set: {} })],
      ['softDelete', (tx) => softDelete(tx, table(), { id: 1 }, { value: 'now' })],
      ['reserve', (tx) => reserve(tx, table(), { id: 1 }, { amount: 1 })],
      ['upsert', (tx) => upsert(tx, table(), { id: 1, free: 9 }, { unique })],
      ['upsertLatest', (tx) => upsertLatest(tx, table(), { id: 1, version: 9 }, { unique, by: 'version' })],
      ['deleteOnce', (tx) => deleteOnce(tx, table(), { id: 1 })],
    ])('%s says so, instead of giving an answer that the row contradicts', async (_, call) => {
      const refused = { code: 'OPTION_INVALID', message: expect.stringContaining('trigger') }
      await expect(place.store.transaction(call)).rejects.toMatchObject(refused)
      const [row] = await place.store.transaction((tx) => rowsOf(tx, table(), { id: 1 }))
      expect(row).toMatchObject({ state: 'new', free: 5, version: 1, deleted_at: null })
    })
  })
}

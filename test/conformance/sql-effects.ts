import type { Effects } from '../../src/testing/index.ts'

export interface SqlClient<Tx> {
  run(tx: Tx, sql: string): Promise<unknown>
  checkOut(): Promise<Tx>
  release(tx: Tx): void
  /** The statements that begin a transaction. */
  begin(options: { readonly repeatableRead: boolean }): readonly string[]
  /** Texts that must be refused. */
  readonly controls: readonly string[]
}

/** What an application does with plain SQL, whichever client it has. */
export function sqlEffects<Tx>({ run, checkOut, release, begin, controls }: SqlClient<Tx>) {
  return {
    commit: (tx) => run(tx, 'COMMIT'),
    controls: controls.map((sql) => ({ name: sql, run: (tx: Tx) => run(tx, sql) })),
    async inSavepoint(tx, work) {
      await run(tx, 'SAVEPOINT of_the_user')
      try {
        await work()
        await run(tx, 'RELEASE SAVEPOINT of_the_user')
      } catch (error) {
        await run(tx, 'ROLLBACK TO SAVEPOINT of_the_user')
        throw error
      }
    },
    savepoints: {
      make: (tx, name) => run(tx, `SAVEPOINT ${name}`),
      undo: (tx, name) => run(tx, `ROLLBACK TO SAVEPOINT ${name}`),
      release: (tx, name) => run(tx, `RELEASE SAVEPOINT ${name}`),
    },
    async transaction(work, { repeatableRead = false } = {}) {
      const tx = await checkOut()
      try {
        for (const sql of begin({ repeatableRead })) await run(tx, sql)
        const value = await work(tx)
        await run(tx, 'COMMIT')
        return value
      } catch (error) {
        await run(tx, 'ROLLBACK')
        throw error
      } finally {
        release(tx)
      }
    },
  } satisfies Partial<Effects<Tx>>
}

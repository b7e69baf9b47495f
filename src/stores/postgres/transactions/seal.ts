import { statement } from '../statement.ts'

/** Part of the error that anyone else who commits gets. */
export const sealMark = 'only justonce may commit this transaction'

/**
 * The seal of a transaction. A cursor WITH HOLD is run to its end when its transaction commits, and this one always fails.
 * So a commit by anyone who has not closed it first fails and rolls everything back. It costs no row, no index and no
 * vacuum. `concat` keeps the planner from evaluating it, and failing, too early.
 */
export const seal = statement(`DECLARE justonce_seal NO SCROLL CURSOR WITH HOLD FOR SELECT concat('${sealMark}')::int`)

/** If the seal is gone, the first statement fails, and nothing is committed. */
export const breakSealAndCommit = [statement('CLOSE justonce_seal'), statement('COMMIT')]

/** The SQLSTATE of closing a seal that does not exist. */
export const sealMissing = '34000'

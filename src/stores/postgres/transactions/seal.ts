import { statement } from '../statement.ts'

/** Part of the error that whoever else commits gets to see. */
export const sealMark = 'only justonce may commit this transaction'

/**
 * The seal of a transaction. A cursor WITH HOLD is run to its end when its transaction commits, and this one cannot be:
 * so a commit by anyone who has not closed it first fails and undoes everything. It costs no row, no index and no
 * vacuum. `concat` keeps the planner from working it out, and failing, already now.
 */
export const seal = statement(`DECLARE justonce_seal NO SCROLL CURSOR WITH HOLD FOR SELECT concat('${sealMark}')::int`)

/** Where the seal is gone the first fails, and then nothing is committed. */
export const breakSealAndCommit = [statement('CLOSE justonce_seal'), statement('COMMIT')]

/** The SQLSTATE of closing a seal that is not there. */
export const sealMissing = '34000'

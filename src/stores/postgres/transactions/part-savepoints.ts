import { type Statement, statement } from '../statement.ts'

/**
 * Nobody waits for a boundary before the next statement is sent. So every part has a savepoint of its own name, and each
 * boundary, and the commit, names the part that it ends: if the boundary before it has not been carried out, it fails, and
 * so does everything behind it. Parts are numbered; 0 stands for none.
 */
export function ending(part: number): readonly Statement[] {
  return part === 0 ? [] : [statement(`RELEASE SAVEPOINT ${nameOf(part)}`)]
}

export function beginning(part: number): Statement {
  return statement(`SAVEPOINT ${nameOf(part)}`)
}

export function undoing(part: number): Statement {
  return statement(`ROLLBACK TO SAVEPOINT ${nameOf(part)}`)
}

/** The SQLSTATE of naming a part that does not exist. */
export const partMissing = '3B001'

function nameOf(part: number): string {
  return `justonce_part_${part}`
}

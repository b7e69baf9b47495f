import { hash } from 'node:crypto'

export interface Statement {
  /** The name under which the server keeps it; empty if the server does not keep it. */
  readonly name: string
  readonly text: string
  /** Whether it may be sent before the opening of the transaction has succeeded: without one it does nothing, or only reads. */
  readonly goesAlong?: boolean
}

/**
 * A statement that the server keeps with its plan. Only for statements that have a plan and can be run in only one way: a
 * plan made while a table was small (read it all) would be used for minutes after the table has grown. The name depends on
 * the text, so that two versions or two prefixes on one connection do not collide. Nothing that begins or ends a transaction
 * or a part has a name: names vanish (`DISCARD ALL`, a pooler), and that must not decide where a transaction begins.
 */
export function prepared(label: string, text: string): Statement {
  const oneLine = inOneLine(text)
  return { name: `justonce_${label}_${hash('sha256', oneLine).slice(0, 12)}`, text: oneLine }
}

/** A statement that is planned each time it is run. */
export function statement(text: string): Statement {
  return { name: '', text: inOneLine(text) }
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

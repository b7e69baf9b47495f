import { hash } from 'node:crypto'

export interface Statement {
  /** Under which the server keeps it; empty: not at all. */
  readonly name: string
  readonly text: string
  /** It may be sent with the opening of a transaction, before that is seen to work: without one it does nothing, or only looks. */
  readonly goesAlong?: boolean
}

/**
 * Kept by the server with its plan. Only for statements that have a plan and can be run in one way: a plan that was made
 * while a table was small (read it all) would be used for minutes after it has grown. The name depends on the text, so
 * that two versions or two prefixes on one connection do not meet. Nothing that begins or ends a transaction or a part
 * of one has a name: names vanish (`DISCARD ALL`, a pooler), and that must not decide where a transaction begins.
 */
export function prepared(label: string, text: string): Statement {
  const oneLine = inOneLine(text)
  return { name: `justonce_${label}_${hash('sha256', oneLine).slice(0, 12)}`, text: oneLine }
}

/** Planned anew each time it is run. */
export function statement(text: string): Statement {
  return { name: '', text: inOneLine(text) }
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

import type { ProofJson, ProofTable } from '../proof.ts'
import { beside, wrap } from './lines.ts'
import { renderFailure } from './render-failure.ts'
import { isAllHeld, mark, renderShortly, renderTable } from './render-table.ts'

/** The proof for people. */
export function renderReport(proof: ProofJson): string {
  const sections = [
    headline(proof),
    ...tables(proof.table),
    checks(proof),
    ...proof.failures.map((failure, index) => renderFailure(failure, index + 1)),
    proof.notes.length === 0 ? [] : ['Notes', ...proof.notes.flatMap((note) => beside('  ·', wrap(note, 100), 4))],
  ]
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n').trimEnd())
    .join('\n\n')}\n`
}

function headline({ ok, failures, runs, ms, database, table }: ProofJson): string[] {
  const seconds = ms / 1_000
  const speed = `${runs} runs on ${database} in ${seconds.toFixed(2)} s (${Math.round(runs / seconds)} a second)`
  if (!ok) {
    const count = failures.filter(({ isAllowed }) => !isAllowed).length
    return [`NOT PROVEN: ${count === 1 ? 'one thing is' : `${count} things are`} wrong.`, `${speed}.`]
  }
  const handlers = [...new Set(table.flatMap((each) => each.handlers))]
  const allowed = failures.length === 0 ? '' : ` ${failures.length} allowed.`
  return [
    `PROVEN: ${handlers.join(', ')}`,
    `${speed}. Whatever was done, the effect was that of an undisturbed run.${allowed}`,
  ]
}

/** In full where there is something to see, and once for messages that are alike. */
function tables(all: readonly ProofTable[]): string[][] {
  const shown = new Set<string>()
  const sections: string[][] = []
  for (const table of all) {
    const kind = JSON.stringify([table.type, table.handlers, table.rows.map(({ step }) => step)])
    if (isAllHeld(table) && shown.has(kind)) sections.push([renderShortly(table)])
    else sections.push(renderTable(table))
    shown.add(kind)
  }
  return sections
}

function checks({ checks }: ProofJson): string[] {
  if (checks.length === 0) return []
  return [
    'All messages together',
    '',
    ...checks.map(({ title, verdict }) => {
      const reason = verdict.kind === 'not-applicable' ? ` (not checked: ${verdict.reason})` : ''
      return `  ${mark(verdict).padEnd(4)}${title}${reason}`
    }),
  ]
}

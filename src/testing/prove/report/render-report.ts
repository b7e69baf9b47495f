import type { ProofJson, ProofTable } from '../proof.ts'
import { beside, wrap } from './lines.ts'
import { renderFailure, renderFailureShortly } from './render-failure.ts'
import { mark, renderAs, renderTable } from './render-table.ts'

/** The proof as text for people. */
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
  const speed = `${runs} runs on ${database} in ${seconds.toFixed(2)} s (${Math.round(runs / seconds)} a second).`
  const found =
    failures.length === 0 || (failures.length === 1 && table.length === 0)
      ? []
      : ['', ...failures.map((each, index) => renderFailureShortly(each, index + 1))]
  if (!ok) return [`NOT PROVEN. ${speed}`, ...found]
  const handlers = [...new Set(table.flatMap((each) => each.handlers))]
  return [
    `PROVEN: ${handlers.join(', ')}. ${speed}`,
    'Under every fault, the effect was the same as in an undisturbed run.',
    ...found,
  ]
}

/** Each table is shown in full once. Messages with the same results only refer to it. */
function tables(all: readonly ProofTable[]): string[][] {
  const shown = new Map<string, string>()
  const sections: string[][] = []
  for (const table of all) {
    const { messageId, ...looks } = table
    const same = shown.get(JSON.stringify(looks))
    sections.push(same === undefined ? renderTable(table) : [renderAs(table, same)])
    if (same === undefined) shown.set(JSON.stringify(looks), messageId)
  }
  return sections
}

function checks({ checks }: ProofJson): string[] {
  if (checks.length === 0) return []
  return [
    'All messages together',
    '',
    ...checks.flatMap(({ title, verdict }) => {
      const reason = verdict.kind === 'not-applicable' ? [`not checked: ${verdict.reason}`] : []
      return beside(`  ${mark(verdict)}`, [title, ...reason], 6)
    }),
  ]
}

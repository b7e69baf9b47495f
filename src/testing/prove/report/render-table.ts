import type { ProofTable, Verdict } from '../proof.ts'
import { messageFaults, oneLine, type StepFault, stepFaults } from '../steps.ts'
import { faultNames, stepNames } from '../wording.ts'

/** Two lines each, above their column. */
const headings: Readonly<Record<StepFault, readonly [string, string]>> = {
  'crash-before': ['crash', 'before'],
  'crash-after': ['crash', 'after'],
  error: ['transient', 'error'],
  'copy-elsewhere': ['copy in', 'other process'],
  'answer-lost': ['answer', 'lost'],
}

const textWidth = 44

export function renderTable(table: ProofTable): string[] {
  const names = stepNames(table.rows.map(({ step }) => step))
  const nameWidth = Math.max(...names.map((name) => name.length)) + 2
  const widths = stepFaults.map((fault) => Math.max(...headings[fault].map((text) => text.length)) + 2)
  const line = (text: string, cells: readonly string[]): string =>
    `  ${text.padEnd(nameWidth + textWidth)}${cells.map((cell, i) => centred(cell, widths[i] as number)).join('')}`.trimEnd()
  const rows = table.rows.map(({ step, verdicts }, index) => {
    const owner = table.handlers.length > 1 && step.handler !== undefined ? `${step.handler}: ` : ''
    const text = `${(names[index] as string).padEnd(nameWidth)}${oneLine(owner + step.text, textWidth - 2)}`
    return line(
      text,
      stepFaults.map((fault) => mark(verdicts[fault])),
    )
  })
  return [
    titleOf(table),
    '',
    line(
      '',
      stepFaults.map((fault) => headings[fault][0]),
    ),
    line(
      'at this step',
      stepFaults.map((fault) => headings[fault][1]),
    ),
    ...rows,
    '',
    ...messageFaults.map((fault) => `  ${mark(table.around[fault]).padEnd(4)}it ${faultNames[fault]}`),
  ]
}

/** For a message with the same results as one that is already shown. */
export function renderAs(table: ProofTable, same: string): string {
  return `${titleOf(table)}: same as ${same}`
}

function titleOf({ messageId, type, handlers }: ProofTable): string {
  return `${messageId}  ${type} → ${handlers.join(', ') || 'no handler'}`
}

export function mark(verdict: Verdict | { readonly kind: 'not-applicable' } | undefined): string {
  switch (verdict?.kind) {
    case 'held':
      return '✓'
    case 'broken':
      return `✗ ${verdict.failure}`
    case 'unreached':
      return '·'
    case 'not-applicable':
      return '–'
    default:
      return ''
  }
}

function centred(text: string, width: number): string {
  const left = Math.floor((width - text.length) / 2)
  return `${' '.repeat(Math.max(0, left))}${text}`.padEnd(width)
}

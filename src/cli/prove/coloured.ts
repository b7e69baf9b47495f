import { styleText } from 'node:util'
import type { Output } from '../terminal.ts'

/** Colours the marks if the output is a terminal. */
export function coloured(report: string, out: Output): string {
  if (!out.isTTY || process.env.NO_COLOR !== undefined) return report
  return report
    .replaceAll('✓', styleText('green', '✓', { validateStream: false }))
    .replaceAll(/✗ ?\d*/g, (mark) => styleText('red', mark, { validateStream: false }))
    .replace(/^(?:NOT )?PROVEN/, (verdict) =>
      styleText(['bold', verdict === 'PROVEN' ? 'green' : 'red'], verdict, { validateStream: false }),
    )
}

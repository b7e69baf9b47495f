import { expect } from 'vitest'
import { runHere } from './run-here.ts'

export interface Found {
  readonly check: string
  readonly level: 'ok' | 'notice' | 'problem'
  readonly found: string
  readonly fix?: string
}

/** What the doctor finds, by its command. Whatever is no "ok" must say what to do. */
export async function doctor(...where: readonly string[]): Promise<readonly Found[]> {
  const { out, err } = await runHere(['doctor', '--json', ...where])
  expect(err).toBe('')
  const { findings } = JSON.parse(out) as { readonly findings: readonly Found[] }
  for (const { level, fix } of findings) expect(level === 'ok' ? 'nothing' : fix).toMatch(/\w{3}/)
  return findings
}

export function named(findings: readonly Found[], check: string): readonly Found[] {
  return findings.filter((finding) => finding.check === check)
}

import { rmSync } from 'node:fs'
import { fromRoot } from './repo.ts'
import { type Finished, run } from './run.ts'

/** Compiles src/ into a fresh dist/, so that a file removed from src/ cannot linger in the package. */
export function build(): Promise<Finished> {
  rmSync(fromRoot('dist'), { recursive: true, force: true })
  return run(fromRoot('node_modules/.bin/tsc'), ['-p', 'tools/tsconfig.build.json', '--pretty', 'false'])
}

if (import.meta.main) {
  const { ok, output } = await build()
  process.stdout.write(output)
  process.exitCode = ok ? 0 : 1
}

import { existsSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { runVariable } from '../servers/postgres-databases.ts'

/** Inside the repository, or the packages that a program needs would not be found. */
const all = fileURLToPath(new URL('../../node_modules/.cache/justonce-programs', import.meta.url))

/**
 * The program in one file of JavaScript, made once in a run of the tests. Tests start hundreds of processes, and to load
 * hundreds of modules and strip their types is most of what a start costs.
 */
export async function bundled(program: URL): Promise<string> {
  const file = join(folderOfThisRun(), `${basename(program.pathname, '.ts')}.mjs`)
  if (existsSync(file)) return file
  const unfinished = `${file}.${process.pid}`
  await build({
    input: fileURLToPath(program),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
    logLevel: 'warn',
    output: { file: unfinished, codeSplitting: false, keepNames: true },
  })
  // Another test file may be making the same one; it appears as a whole.
  renameSync(unfinished, file)
  return file
}

export function removeProgramsOfThisRun(): void {
  rmSync(folderOfThisRun(), { recursive: true, force: true })
}

function folderOfThisRun(): string {
  const run = process.env[runVariable]
  if (run !== undefined) return join(all, run)
  // No run of all tests, which removes them at its end: they are for this process only.
  process.env[runVariable] = String(process.pid)
  process.once('exit', removeProgramsOfThisRun)
  return folderOfThisRun()
}

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBinaries } from '../../test/servers/find-binaries.ts'
import { canInstallPackages, installMissing } from '../../test/servers/install.ts'
import { binariesOf } from '../../test/servers/server.ts'

const compiler = { name: 'gcc', packages: ['gcc', 'libc6-dev'], find: () => findBinaries(['gcc']) }

/** Why there can be no delay line here; undefined if there can. */
export function missingCompiler(): string | undefined {
  if (compiler.find() !== undefined || canInstallPackages()) return undefined
  return `${compiler.name} is not installed. Run: apt-get install ${compiler.packages.join(' ')}`
}

/** A port on this machine behind which another one is, but farther away. */
export interface DelayLine {
  readonly port: number
  stop(): Promise<void>
}

/** Timers of Node are a millisecond apart, so a program in C does it: see delay.c. */
export async function startDelayLine(targetPort: number, delayEachWayMs: number): Promise<DelayLine> {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-delay-'))
  try {
    const program = join(folder, 'delay')
    await compile(program)
    const child = spawn(program, [String(targetPort), String(Math.round(delayEachWayMs * 1_000))], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    const ended = exited.then(([code]) => Promise.reject(new Error(`The delaying proxy ended with ${code}.`)))
    const [port] = await Promise.race([once(child.stdout, 'data'), ended])
    ended.catch(() => {})
    return {
      port: Number(port),
      async stop() {
        child.stdin.end()
        await exited
      },
    }
  } finally {
    // It runs on without its file.
    rmSync(folder, { recursive: true })
  }
}

async function compile(program: string): Promise<void> {
  if (compiler.find() === undefined && canInstallPackages()) await installMissing(compiler)
  const source = fileURLToPath(new URL('./delay.c', import.meta.url))
  execFileSync(binariesOf(compiler).gcc as string, ['-O2', '-o', program, source])
}

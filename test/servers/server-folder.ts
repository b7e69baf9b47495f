import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRunning } from './process-tree.ts'
import { giveTo, type RunAs } from './system-user.ts'

/**
 * The guard of one server: a shell that waits for the end of its input, which comes when the test process closes the
 * pipe or dies in any way, SIGKILL included. Then it ends the server and removes the folder, so there is one way to
 * clean up for a normal stop, Ctrl-C, a crash and a kill. Each input line names the process to end; an empty one, none.
 */
const guardScript = `
folder=$1 signal=$2 pid= tries=0
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -s "$signal" -- "-$pid"
  while kill -0 -- "-$pid" && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "-$pid"
fi
# The last children of a dying server may still write.
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
`

const folderName = /^justonce-server-[a-z]+-(\d+)-\w+$/

export interface ServerFolder {
  readonly path: string
  readonly runAs: RunAs
  /** Makes a folder in it that the server may write to. */
  make(name: string): string
  /** Tells the guard which process group to end when this process dies; undefined after the server has ended. */
  guard(pid: number | undefined): void
  /** Ends what is still guarded and removes the folder. */
  remove(): Promise<void>
}

export interface ServerFolderOptions {
  readonly name: string
  readonly runAs: RunAs
  /** What makes this server end at once, without the "SIG". */
  readonly endSignal: string
}

export function createServerFolder({ name, runAs, endSignal }: ServerFolderOptions): ServerFolder {
  removeFoldersOfDeadRuns()
  const path = mkdtempSync(join(tmpdir(), `justonce-server-${name}-${process.pid}-`))
  giveTo(runAs, path)
  // A session of its own, or Ctrl-C would end the guard before it can do its work.
  const shell = spawn('sh', ['-c', guardScript, 'guard', path, endSignal], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  letProcessEnd(shell)
  return {
    path,
    runAs,
    make(name) {
      const inner = join(path, name)
      mkdirSync(inner)
      giveTo(runAs, inner)
      return inner
    },
    guard(pid) {
      shell.stdin.write(`${pid ?? ''}\n`)
    },
    async remove() {
      if (shell.exitCode !== null || shell.signalCode !== null) return
      shell.ref()
      shell.stdin.end()
      await once(shell, 'exit')
    },
  }
}

/** A guard must not keep alive the very process whose end it waits for. */
function letProcessEnd(shell: ChildProcess): void {
  shell.unref()
  const input = shell.stdin as unknown as { unref(): void; on(event: 'error', ignore: () => void): void }
  input.unref()
  input.on('error', () => {})
}

/** Only after a power loss or a killed guard. A server that still runs there ends by itself without its files. */
function removeFoldersOfDeadRuns(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = folderName.exec(name)?.[1]
    if (owner === undefined || isRunning(Number(owner))) continue
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true })
    } catch {
      // It belongs to another user, or its guard is removing it right now.
    }
  }
}

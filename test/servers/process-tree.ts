import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

interface ProcessState {
  readonly parent: number
  readonly isZombie: boolean
}

/** Reads Linux's /proc: a bare Debian has no `ps`. */
function stateOf(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the name in parentheses and may itself contain blanks and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { parent: Number(parent), isZombie: state === 'Z' }
  } catch {
    return undefined
  }
}

/** A zombie counts as ended: it holds no file, port or memory any more. */
export function isRunning(pid: number): boolean {
  return stateOf(pid)?.isZombie === false
}

/** Children, grandchildren and so on, in no order. */
export function descendantsOf(pid: number): number[] {
  const childrenOf = new Map<number, number[]>()
  for (const child of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const parent = stateOf(child)?.parent
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), child])
  }
  const collect = (parent: number): number[] =>
    (childrenOf.get(parent) ?? []).flatMap((child) => [child, ...collect(child)])
  return collect(pid)
}

/**
 * SIGKILL for a process and all below it, as in a crash of the machine. By tree, not by process group, because every
 * backend of Postgres is the leader of a group of its own.
 */
export async function killTree(pid: number): Promise<void> {
  // A stopped parent cannot start another child between the look and the kill.
  signal(pid, 'SIGSTOP')
  const doomed = [pid, ...descendantsOf(pid)]
  for (const each of doomed) signal(each, 'SIGKILL')
  await ended(doomed)
}

/** Resolves when none of the processes runs any more. */
export async function ended(pids: readonly number[]): Promise<void> {
  while (pids.some(isRunning)) await delay(5)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

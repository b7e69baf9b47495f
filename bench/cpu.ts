import { readdirSync, readFileSync } from 'node:fs'
import type { Pool } from 'pg'

/** Processor time in microseconds. */
export interface Cpu {
  /** Of this process. */
  readonly here: number
  /** Of all processes of the Postgres server, which must be on this machine. Its clock ticks every ten milliseconds. */
  readonly server: number
}

const microsPerTick = 10_000

/** Begins to count. Returns a function that says how much there was since then. */
export async function countCpu(pool: Pool): Promise<() => Cpu> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const server = timesOf(rows[0]?.pid ?? 0)?.parent ?? 0
  const [usedHere, usedThere] = [process.cpuUsage(), ticksOf(server)]
  return () => {
    const { user, system } = process.cpuUsage(usedHere)
    return { here: user + system, server: (ticksOf(server) - usedThere) * microsPerTick }
  }
}

/** Of a process and all its children, those that have ended included. */
function ticksOf(pid: number): number {
  const own = timesOf(pid)
  let ticks = (own?.ticks ?? 0) + (own?.ofEndedChildren ?? 0)
  for (const name of readdirSync('/proc')) {
    const child = /^\d+$/.test(name) ? timesOf(Number(name)) : undefined
    if (child?.parent === pid) ticks += child.ticks
  }
  return ticks
}

/** `undefined` if the process has ended. */
function timesOf(pid: number) {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name in parentheses may hold spaces; the fields behind it are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const at = (place: number): number => Number(fields[place])
  return { parent: at(1), ticks: at(11) + at(12), ofEndedChildren: at(13) + at(14) }
}

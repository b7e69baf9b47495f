import type { Result } from './simulate.ts'

/** A failing run for a person to read: what was violated, in which world, and what happened when. */
export function story({ scenario, violations, world }: Result): string {
  const { processes, concurrency, batchMax, messages, faults, disasters, order, shape, retention } = scenario
  return [
    ...violations.map((violation) => `  ${violation}`),
    '',
    `  ${processes} process(es) with ${concurrency} lane(s), batches of up to ${batchMax}, a ${shape}${shape === 'queue' ? ` that ${order === 'keep' ? 'keeps order' : 'reorders'}` : ''}`,
    ...messages.map(
      ({ id, type, key, behaviour, sentAt }) =>
        `  ${id} (${type}, key ${key ?? 'none'}, ${behaviour}) is sent at ${sentAt.join(', ')} ms`,
    ),
    ...(retention === undefined
      ? []
      : [
          `  records are kept for ${retention.days.map((days) => days ?? 'ever').join(', ')} days, later: ${retention.tooOld}`,
        ]),
    ...disasters.map(({ kind, at, ms }) => `  ${kind} at ${at} ms for ${ms} ms`),
    ...faults.map(({ nth, step = 'call', fault }) => `  ${fault} at ${step} number ${nth + 1}`),
    '',
    '  time ms   process    what it does',
    ...interesting(world.scheduler.trace).map((line) => `  ${line}`),
  ].join('\n')
}

/** Without the idle looking around of relays and retries. */
function interesting(trace: readonly string[]): string[] {
  const busy = trace.filter(
    (line) =>
      line.includes('FAULT') || !/ (lease|reserve|ping|pin-scheme|(acquire|release)-lease|take-redrive)$/.test(line),
  )
  const told = busy.filter((_, index) => !isEmptyTransaction(busy, index))
  return told.length <= 120 ? told : [...told.slice(0, 100), `… ${told.length - 100} more`]
}

/** A begin that is followed by its commit, or a commit that follows its begin. */
function isEmptyTransaction(lines: readonly string[], index: number): boolean {
  const isPair = (first?: string, second?: string) =>
    stepOf(first) === 'begin' && stepOf(second) === 'commit' && processOf(first) === processOf(second)
  return isPair(lines[index], lines[index + 1]) || isPair(lines[index - 1], lines[index])
}

function stepOf(line = ''): string | undefined {
  return line.trim().split(/\s+/)[2]
}

function processOf(line = ''): string | undefined {
  return line.trim().split(/\s+/)[1]
}

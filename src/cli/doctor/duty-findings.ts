import type { Overview, ProcessView } from '../../operations/index.ts'
import type { Finding } from './findings.ts'

type Waiting = Pick<Overview, 'queues' | 'outgoing'>

const fix = 'Start an app without only, or with this duty.'

/** Whether somebody has each duty that what runs here needs. */
export function dutyFindings(processes: readonly ProcessView[], { queues, outgoing }: Waiting): readonly Finding[] {
  if (processes.length === 0) return []
  const lacks = (duty: string): boolean => !processes.some(({ duties }) => duties.includes(duty))
  const findings = ['retries', 'maintenance'].filter(lacks).map((duty) => problemOf(`no process has the duty ${duty}`))
  if (lacks('relay')) {
    if (holdsAny(outgoing)) findings.push(problemOf('no process has the duty relay, and published messages wait'))
    else if (processes.some(({ destinations }) => destinations.length > 0))
      findings.push(
        noticeOf('no process has the duty relay: what is published does not leave', 'If anything publishes'),
      )
  }
  if (lacks('consumer')) {
    if (holdsAny(queues)) findings.push(problemOf('no process has the duty consumer, and messages wait in a queue'))
    else if (processes.some(({ handlers }) => handlers.length > 0))
      findings.push(
        noticeOf(
          'no process has the duty consumer: handlers get only what is passed to app.deliver()',
          'If messages come from a queue or a broker',
        ),
      )
  }
  return findings
}

function problemOf(found: string): Finding {
  return { level: 'problem', check: 'duties', found, fix }
}

/** It depends on what the apps do, which nobody has told. */
function noticeOf(found: string, when: string): Finding {
  return { level: 'notice', check: 'duties', found, fix: `${when}: s${fix.slice(1)}` }
}

function holdsAny(queues: Overview['queues']): boolean {
  return Object.values(queues).some(({ ready, hidden }) => ready + hidden > 0)
}

import type { IncomingMessage, Store } from '../../contracts/index.ts'
import { judge } from './judge.ts'
import { neighbourOf } from './neighbour.ts'
import type { ProofRow, ProofTable, Verdict } from './proof.ts'
import type { Prover } from './prover.ts'
import type { PlannedStrike, RunPlan } from './run.ts'
import { faultsAt, type MessageFault, messageFaults, type Step, type StepFault } from './steps.ts'
import { faultNames, stepNames } from './wording.ts'

type Plan = Omit<RunPlan, 'pins'>

/** How many runs all messages will take. */
export function countStrikes<S extends Store>(prover: Prover<S>): number {
  const perStep = prover.messages.flatMap((message) =>
    stepsToStrike(prover, message).map(([, step]) => faultsAt(step).length),
  )
  return perStep.reduce((sum, count) => sum + count, prover.messages.length * (messageFaults.length + 1))
}

/** Applies every possible fault to every step of a message, and compares the results. */
export async function strikeMessage<S extends Store>(prover: Prover<S>, message: IncomingMessage): Promise<ProofTable> {
  const steps = prover.baseline.steps.get(message) ?? []
  const names = stepNames(steps)
  const rows: ProofRow[] = []
  for (const [index, step] of stepsToStrike(prover, message)) {
    const verdicts: Partial<Record<StepFault, Verdict>> = {}
    for (const fault of faultsAt(step)) {
      const where = `${faultNames[fault]} ${names[index]} of ${message.id}`
      verdicts[fault] = await strikeStep(prover, message, index, fault, where)
    }
    rows.push({ step, verdicts })
  }
  const around: Partial<Record<MessageFault, Verdict>> = {}
  for (const fault of messageFaults) {
    const where = `${message.id} ${faultNames[fault]}`
    const outcome = await prover.run(where, planAround(prover.messages, message, fault))
    around[fault] = await judge(prover, message, where, { ...outcome, wasStruck: true })
  }
  return {
    messageId: String(message.id),
    type: String(message.type),
    handlers: prover.handlersOf(message),
    rows,
    around,
  }
}

/** Every step. If there are too many, an evenly spread selection. */
function stepsToStrike<S extends Store>(prover: Prover<S>, message: IncomingMessage): readonly [number, Step][] {
  const steps = [...(prover.baseline.steps.get(message) ?? []).entries()]
  const { maxSteps = 100 } = prover.options
  if (steps.length <= maxSteps) return steps
  const note = `${message.id} has ${steps.length} steps, but only ${maxSteps} of them were disturbed; raise maxSteps to cover more.`
  if (!prover.notes.includes(note)) prover.notes.push(note)
  return Array.from({ length: maxSteps }, (_, i) => steps[Math.floor((i * steps.length) / maxSteps)] as [number, Step])
}

async function strikeStep<S extends Store>(
  prover: Prover<S>,
  message: IncomingMessage,
  step: number,
  fault: StepFault,
  where: string,
): Promise<Verdict> {
  let verdict: Verdict = { kind: 'unreached' }
  for (const what of strikesFor(fault, message)) {
    const outcome = await prover.run(where, { batches: prover.oneByOne(), strike: { message, step, what } })
    verdict = await judge(prover, message, where, outcome, message)
    if (verdict.kind !== 'held') break
  }
  return verdict
}

function strikesFor(fault: StepFault, message: IncomingMessage): readonly PlannedStrike['what'][] {
  switch (fault) {
    case 'answer-lost':
      return [
        { kind: fault, happened: true },
        { kind: fault, happened: false },
      ]
    case 'copy-elsewhere':
      return [{ kind: 'elsewhere', deliver: { ...message } }]
    default:
      return [{ kind: fault }]
  }
}

function planAround(messages: readonly IncomingMessage[], message: IncomingMessage, fault: MessageFault): Plan {
  const inPlace = (batch: readonly IncomingMessage[]): Plan => ({
    batches: messages.map((other) => (other === message ? batch : [other])),
  })
  switch (fault) {
    case 'twice-in-a-batch':
      return inPlace([message, { ...message }])
    case 'neighbour-fails-before':
      return inPlace([neighbourOf(message), message])
    case 'neighbour-fails-after':
      return inPlace([message, neighbourOf(message)])
    case 'again':
      return { ...inPlace([message]), again: { message, to: 'the-same-process' } }
    case 'again-after-restart':
      return { ...inPlace([message]), again: { message, to: 'a-new-process' } }
  }
}

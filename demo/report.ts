import { brokerNames } from './broker-server.ts'
import type { Flags } from './flags.ts'
import type { Plan } from './plan.ts'
import { type Figures, isExact, type Tally } from './tally.ts'
import { money, type Paint, paragraph, rule, thousands, times } from './wording.ts'

export function introduction(plan: Plan, flags: Flags, paint: Paint): string {
  const { messages, kills, workers, seed, postgres, broker } = flags
  const database = postgres === undefined ? 'SQLite file' : 'Postgres schema'
  const courier = broker === undefined ? ', which is its queue as well' : `; ${brokerNames[broker]} brings the payments`
  const task = `${times(messages, 'payment')} must each be credited to an account exactly once.`
  const copies = `But each of them is delivered 1 to 4 times (${thousands(plan.copies.length)} deliveries)`
  const deaths = `the worker processes are killed with SIGKILL at random moments (${times(kills, 'time')}) and started again`
  const sides = `Two crews of ${times(workers, 'worker')} do this work side by side: one with justonce, the other as
    it is usually written: run the handler, then acknowledge. Each has its own ${database}${courier}.
    Seed ${seed}.`
  return [
    paint.strong(paragraph(task)),
    paragraph(kills === 0 ? `${copies}.` : `${copies}, and ${deaths}.`),
    '',
    paragraph(sides),
  ].join('\n')
}

const rows: readonly { label: string; of: keyof Figures; isDamage?: true }[] = [
  { label: 'messages', of: 'messages' },
  { label: 'deliveries', of: 'deliveries' },
  { label: 'duplicates skipped', of: 'duplicates' },
  { label: 'kills', of: 'kills' },
  { label: 'effects', of: 'effects' },
  { label: 'lost', of: 'lost', isDamage: true },
  { label: 'doubled', of: 'doubled', isDamage: true },
]

export function table(justonce: Figures, naive: Figures, paint: Paint): string {
  const cell = (text: string): string => text.padStart(12)
  const head = `  ${''.padEnd(20)}${cell('justonce')}${cell('naive')}`
  const body = rows.map(({ label, of, isDamage }) => {
    const cells = [justonce[of], naive[of]].map((value) => {
      const text = cell(thousands(value))
      if (isDamage === undefined) return text
      return value === 0 ? paint.good(text) : paint.bad(text)
    })
    return `  ${label.padEnd(20)}${cells.join('')}`
  })
  return [paint.strong(head), `  ${rule(44)}`, ...body].join('\n')
}

/** What the figures mean, in words. */
export function verdict(name: string, tally: Tally, paint: Paint): string {
  const { lost, doubled, doubledByRepeats, wrongAccounts } = tally
  const balance = `The accounts hold ${money(tally.balanceCents)}`
  if (isExact(tally)) {
    const good = paint.good(paragraph(`${name} credited every payment exactly once.`))
    return `${good}\n${paragraph(`${balance}, as they should.`)}`
  }
  const damage = [
    doubled > 0 ? [`credited ${times(doubled, 'time')} too often`] : [],
    lost > 0 ? [`never credited ${times(lost, 'payment')}`] : [],
    wrongAccounts > 0 ? [`left ${times(wrongAccounts, 'account')} that contradict the ledger`] : [],
    doubled + lost + wrongAccounts === 0 ? ['credited wrong amounts'] : [],
  ].flat()
  const causes = `${times(doubled - doubledByRepeats, 'time')} because a payment was delivered again,
    ${times(doubledByRepeats, 'time')} because a worker was killed or held up between its commit and its acknowledgement.`
  const bad = paint.bad(paragraph(`${name} ${damage.join(', ')}.`))
  return `${bad}\n${paragraph(`${doubled > 0 ? causes : ''} ${balance} instead of ${money(tally.paidCents)}.`.trim())}`
}

import type { CountedGroup, DeadLetter, RedrivePreview, RedriveStatus } from '../../operations/index.ts'
import { headerLines } from '../header-lines.ts'
import type { Desk } from '../operator-command.ts'
import { linesOf, saidLines } from '../output/said-lines.ts'
import { agoOf, counted, timeOf } from '../output/wording.ts'
import type { ParkedKind } from '../parked-actions.ts'

export const deadLetters: ParkedKind<DeadLetter> = {
  one: 'dead letter',
  of: ({ letters }) => letters,
  when: { title: 'died', of: ({ diedAt }) => timeOf(diedAt), short: ({ diedAt }) => agoOf(diedAt) },
}

export function groupsText(desk: Pick<Desk, 'table'>, groups: readonly CountedGroup[]): string {
  return desk.table(groups, [
    { title: 'count', of: ({ count }) => count },
    { title: 'handler', of: ({ handler }) => handler, cut: true },
    { title: 'reason', of: ({ reason }) => reason },
    { title: 'first', of: ({ firstAt }) => timeOf(firstAt), short: ({ firstAt }) => agoOf(firstAt) },
    { title: 'last', of: ({ lastAt }) => timeOf(lastAt), short: ({ lastAt }) => agoOf(lastAt) },
    { title: 'error', of: ({ shape }) => shape, cut: true },
    { title: 'note', of: ({ note }) => note ?? '', cut: true },
  ])
}

export function redrivesText(desk: Pick<Desk, 'table'>, redrives: readonly RedriveStatus[]): string {
  return desk.table(redrives, [
    { title: 'redrive', of: ({ id }) => id },
    { title: 'state', of: ({ state }) => state },
    { title: 'letters', of: ({ selected }) => selected },
    { title: 'done', of: ({ succeeded }) => succeeded },
    { title: 'failed', of: ({ failed }) => failed },
    { title: 'started', of: ({ startedAt }) => timeOf(startedAt), short: ({ startedAt }) => agoOf(startedAt) },
    { title: 'by', of: ({ by }) => by, cut: true, spare: true },
    { title: 'why', of: ({ why }) => why, cut: true, spare: true },
  ])
}

export function letterText(letter: DeadLetter): string {
  const { handler, key, messageId, type, source, reason, attempts, parkedAt, diedAt, errors, headers, body } = letter
  const lines = [
    `${handler}, key ${key}, message ${messageId} of type ${type} from ${source}`,
    `${reason} after ${counted(attempts, 'attempt')}; parked ${timeOf(parkedAt)}, dead since ${timeOf(diedAt)}`,
    ...errors.flatMap(saidLines),
    ...headerLines(headers),
    `body: ${JSON.stringify(body) ?? ''}`,
    ...(letter.edited ? [`body as received: ${JSON.stringify(letter.originalBody) ?? ''}`] : []),
  ]
  return linesOf(lines)
}

export function previewText({ letters, wouldRun, alreadyDone, tooOld, expired }: RedrivePreview): string {
  const lines = [counted(letters, 'dead letter')]
  for (const [handler, count] of Object.entries(wouldRun))
    lines.push(`  ${handler} would get ${counted(count, 'message')}`)
  for (const [handler, count] of Object.entries(alreadyDone ?? {}))
    lines.push(`  ${handler} has processed ${count} of them and does not run again`)
  if (tooOld > 0) lines.push(`  ${tooOld} are so old that nobody knows whether they were processed: they would run`)
  if (expired > 0) lines.push(`  ${expired} have expired and would be skipped`)
  return lines.map((line) => `${line}\n`).join('')
}

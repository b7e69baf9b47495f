import type { HandlerStory, MessageStory } from '../../operations/index.ts'
import { headerLines } from '../header-lines.ts'
import { linesOf, saidLines } from '../output/said-lines.ts'
import { shellWord } from '../output/shell-word.ts'
import { counted, timeOf } from '../output/wording.ts'

/** A message's story as a person reads it, every line plain text. */
export function storyText(story: MessageStory): string {
  const { id, type, source, message, handlers, duplicates, actions, leavesAt, intents, waitsFor, inQueue, causedBy } =
    story
  const lines = [[`message ${id}`, type && `of type ${type}`, source && `from ${source}`].filter(Boolean).join(' ')]
  if (story.businessId !== undefined) lines.push(`about ${story.businessId}`)
  if (causedBy !== undefined)
    lines.push(`published by ${causedBy.handler}${causedBy.key === undefined ? '' : ` for ${causedBy.key}`}`)
  if (waitsFor !== undefined)
    lines.push(
      `waits for ${waitsFor.destination} since ${timeOf(waitsFor.since)}, ${counted(waitsFor.attempts, 'attempt')} to send it`,
    )
  if (inQueue !== undefined)
    lines.push(
      `in the queue ${inQueue.queue} since ${timeOf(inQueue.since)}, taken ${counted(inQueue.deliveries, 'time')}; no handler has finished it`,
    )
  if (leavesAt !== undefined) lines.push(`published, and leaves at ${timeOf(leavesAt)}`)
  for (const handler of handlers) lines.push('', ...handlerLines(handler))
  if (handlers.length === 0 && waitsFor === undefined && inQueue === undefined)
    lines.push('', 'no handler has a record of it or has it parked')
  for (const { handler, key, state, reason } of intents) {
    lines.push('', `intent ${handler.slice(1)}: ${state}, ${reason} (key ${key})`)
    lines.push(`  more: justonce intents show -- ${shellWord(handler.slice(1))} ${shellWord(key)}`)
  }
  lines.push(...outgoingLines(story))
  if (duplicates.length > 0) lines.push('', `${counted(duplicates.length, 'copy', 'copies')} came later:`)
  for (const { at, handler, redelivered, deliveries, recognisedBy } of duplicates.slice(0, 20)) {
    const why = redelivered
      ? `delivered again by the broker${deliveries === undefined ? '' : ` (delivery ${deliveries})`}`
      : 'sent again, or the broker does not say why'
    lines.push(
      `  ${timeOf(at)}  ${handler}: ${why}; recognised by ${recognisedBy === 'store' ? 'its record' : 'the process itself'}`,
    )
  }
  if (actions.length > 0) lines.push('', 'what operators did:')
  for (const { at, action, by, why } of actions)
    lines.push(`  ${timeOf(at)}  ${action} by ${by}${why === '' ? '' : `: ${why}`}`)
  if (message !== undefined) {
    lines.push(...headerLines(message.headers))
    lines.push(`body${message.edited ? ' (edited)' : ''}: ${JSON.stringify(message.body) ?? ''}`)
  }
  return linesOf(lines)
}

function outgoingLines({ outgoing, isOutgoingComplete }: MessageStory): string[] {
  if (outgoing.length === 0) return []
  const lines = ['', 'published and not sent yet:']
  for (const { id, type, destination, state, dueAt, attempts, error } of outgoing) {
    const how = { waiting: 'waits', delayed: `leaves at ${timeOf(dueAt)}`, refused: 'refused for good' }[state]
    const tried = attempts > 0 ? ` after ${counted(attempts, 'attempt')}` : ''
    lines.push(`  ${type} ${id} to ${destination}: ${how}${tried}${error === undefined ? '' : `: ${error}`}`)
    if (state === 'refused')
      lines.push(
        `  send it again: justonce dead-letters redrive --handler=${shellWord(`>${destination}`)} --id=${shellWord(id)}`,
      )
  }
  if (!isOutgoingComplete) lines.push('  (of each destination the 1,000 oldest were looked at)')
  return lines
}

function handlerLines({
  handler,
  key,
  state,
  at,
  result,
  errors,
  reason,
  nextAt,
  running,
  behind,
  paused,
  redrive,
  attempts,
}: HandlerStory) {
  const named = `--handler=${shellWord(handler)} --key=${shellWord(key)}`
  const after = attempts === undefined || attempts === 0 ? '' : ` after ${counted(attempts, 'attempt')}`
  const lines = [`${handler}: ${state} since ${timeOf(at)} (key ${key})`]
  if (running !== undefined)
    lines.push(`  attempt ${running.attempt} runs in ${running.host}/${running.pid} since ${timeOf(running.since)}`)
  if (behind !== undefined) {
    const first = behind.messageId ?? behind.key
    lines.push(`  ${reason}, behind ${first} of the same key (${behind.state})`)
    lines.push(`  that one: justonce messages show -- ${shellWord(first)}`)
  } else if (state === 'waiting') {
    lines.push(`  ${reason ?? 'parked'}${after}, next attempt at ${timeOf(nextAt) ?? 'a time that is not known'}`)
    lines.push(`  now: justonce waiting run-now ${named}`)
  } else if (state === 'dead') {
    lines.push(`  ${reason}${after}, not tried again by itself`)
    lines.push(`  again: justonce dead-letters redrive ${named}`)
  } else if (running === undefined && after !== '') lines.push(`  ${counted(attempts ?? 0, 'attempt')}`)
  if (paused !== undefined) {
    lines.push(`  the handler is paused by ${paused.by}${paused.why === '' ? '' : `: ${paused.why}`}`)
    lines.push(`  resume it: justonce handlers resume -- ${shellWord(handler)}`)
  }
  if (redrive !== undefined) lines.push(`  in the redrive ${redrive.id} of ${redrive.by}`)
  lines.push(...errors.flatMap(saidLines))
  if (result !== undefined) lines.push(`  result ${result}`)
  return lines
}

import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { storyText } from '../../src/cli/messages/story-text.ts'
import type { MessageStory } from '../../src/operations/index.ts'

const hostile = ["a'; touch /tmp/owned; echo '", '$(id)', '`id`', '--all', 'x\u001b[2J\ny', '#', "''"]

test.each(hostile)('a command to copy does nothing but what it says, whatever key a message brings: %j', (key) => {
  const at = new Date(0)
  const parked = {
    handler: 'tag',
    key,
    messageId: key,
    type: 't',
    state: 'dead' as const,
    at,
    reason: 'HANDLER_FAILED',
  }
  const story: MessageStory = {
    ...{ id: 'm1', type: 't', source: 's', message: undefined, leavesAt: undefined, inQueue: undefined },
    ...{ businessId: undefined, causedBy: undefined, outgoing: [], isOutgoingComplete: true, waitsFor: undefined },
    ...{ duplicates: [], actions: [] },
    handlers: [{ ...parked, errors: [] }],
    intents: [{ ...parked, handler: '!mail' }],
  }
  const commands = storyText(story)
    .split('\n')
    .flatMap((line) => /justonce (.*)$/.exec(line)?.[1] ?? [])
  expect(commands).toHaveLength(2)
  for (const command of commands) {
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1)
    // What a terminal would act on cannot be copied from it.
    if (/\p{Cc}/u.test(key)) expect(words.join(' ')).not.toMatch(/\p{Cc}/u)
    else expect(words).toContain(command.startsWith('intents') ? key : `--key=${key}`)
  }
})

import { describe, test } from 'vitest'
import '../crash/long-tests.ts'
import { requireServer } from '../servers/require.ts'
import { startConsumerProcess } from './consumer-process.ts'
import { openEffectsWorld } from './effects-world.ts'

const kafka = await requireServer('kafka')

/** Longer than the test may take: a group that waits for a dead member would never go on. */
const sessionTimeoutMs = 300_000

describe.skipIf(!kafka.available)('a process that was killed and is started again', () => {
  test('has its partitions back at once under its groupInstanceId: the group does not wait for the dead member', async () => {
    const world = await openEffectsWorld(kafka.url)
    const startMember = (groupInstanceId: string) =>
      startConsumerProcess({ ...world.config, transport: { sessionTimeoutMs, clientOptions: { groupInstanceId } } })
    const members = [await startMember('one'), await startMember('two')]
    const ids = await world.send(300, async () => {
      for (const [index, name] of ['one', 'two'].entries()) {
        members[index]?.kill()
        await members[index]?.ended
        members[index] = await startMember(name)
      }
    })
    await world.drained()
    world.expectOneEffectEach(ids)
  })
})

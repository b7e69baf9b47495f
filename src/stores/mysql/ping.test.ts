import { expect, test } from 'vitest'
import { ping } from './ping.ts'

/** Of a server that answers so when it is asked for read_only. */
const answered = (readOnly: string) => ping({ read: async () => [[Buffer.from(readOnly)]] }, { meta: 'meta' })

test.each(['0', 'OFF'])('a server that says %s takes writes', async (readOnly) => {
  await expect(answered(readOnly)).resolves.toBeUndefined()
})

test.each(['1', 'ON', 'NO_LOCK', 'NO_LOCK_NO_ADMIN'])('one that says %s does not', async (readOnly) => {
  await expect(answered(readOnly)).rejects.toThrow('takes no writes')
})

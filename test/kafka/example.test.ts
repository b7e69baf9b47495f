import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { requireServer } from '../servers/require.ts'

const kafka = await requireServer('kafka')
const folder = new URL('../../examples/09-kafka-positions/', import.meta.url)

describe.skipIf(!kafka.available)('the example that needs Kafka', () => {
  test('prints what its page says', { timeout: 120_000 }, async () => {
    const args = ['--conditions=justonce-source', new URL('main.ts', folder).pathname]
    const env = { ...process.env, KAFKA: new URL(kafka.url).host }
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    expect(stdout).toBe(readFileSync(new URL('expected.txt', folder), 'utf8'))
  })
})

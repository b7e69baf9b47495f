import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missingCompiler, startDelayLine } from '../../bench/network/delay-line.ts'
import { startEcho } from '../../bench/network/ping.ts'
import { localhost } from '../servers/address.ts'
import { reasonToSkip } from '../servers/plan.ts'

const missing = missingCompiler()
if (missing !== undefined) console.warn(`SKIPPED: ${reasonToSkip(missing, process.env)}`)

async function connectThroughDelay(eachWayMs: number) {
  const echo = await startEcho()
  const line = await startDelayLine(echo.port, eachWayMs)
  onTestFinished(async () => {
    await line.stop()
    await echo.stop()
  })
  const socket = connect(line.port, localhost)
  await once(socket, 'connect')
  return { socket, line }
}

describe.skipIf(missing !== undefined)('the delay line', () => {
  test('a round trip takes no less than twice the delay', async () => {
    const { socket } = await connectThroughDelay(20)
    const begunAt = performance.now()
    socket.write('ping')
    const [answer] = await once(socket, 'data')
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(40)
    expect(String(answer)).toBe('ping')
    socket.end()
    await once(socket, 'close')
  })

  test('everything arrives, in its order, and then the end does', async () => {
    const { socket } = await connectThroughDelay(0.25)
    const sent = randomBytes(8 * 1024 * 1024)
    const received = buffer(socket)
    for (let at = 0; at < sent.length; at += 100_000) socket.write(sent.subarray(at, at + 100_000))
    socket.end()
    expect((await received).equals(sent)).toBe(true)
  })

  test('when it stops, its connections end', async () => {
    const { socket, line } = await connectThroughDelay(0.25)
    // A connection that it had not accepted yet is reset, which is an end, too.
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await line.stop()
    await closed
    expect(socket.destroyed).toBe(true)
  })
})

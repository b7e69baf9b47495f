import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../testing/fake-clock.ts'
import { FairMutex } from './fair-mutex.ts'

const settled = () => new Promise(setImmediate)

describe('FairMutex', () => {
  it('gives turns in the order of asking, one at a time', async () => {
    const mutex = new FairMutex(fakeClock(), 1000)
    const turns: string[] = []
    const take = async (name: string) => {
      const end = await mutex.acquire()
      turns.push(`${name} begins`)
      await settled()
      turns.push(`${name} ends`)
      end()
    }
    await Promise.all(['a', 'b', 'c'].map(take))
    expect(turns).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
    expect(mutex.idle).toBe(true)
  })

  it('to end a turn twice does not end the turn of the next', async () => {
    const mutex = new FairMutex(fakeClock(), 1000)
    const endFirst = await mutex.acquire()
    const second = mutex.acquire()
    endFirst()
    const endSecond = await second
    endFirst()
    expect(mutex.idle).toBe(false)
    endSecond()
    expect(mutex.idle).toBe(true)
  })

  it('patience is for one holder: while turns change hands the wait goes on', async () => {
    const clock = fakeClock()
    const mutex = new FairMutex(clock, 1000)
    const first = await mutex.acquire()
    const second = mutex.acquire()
    const third = mutex.acquire()
    await clock.advance(900)
    first()
    const endSecond = await second
    await clock.advance(900)
    endSecond()
    const endThird = await third
    const fourth = mutex.acquire()
    const refused = expect(fourth).rejects.toMatchObject({ code: 'STORE_BUSY' })
    await clock.advance(1000)
    await refused
    endThird()
    expect(mutex.idle).toBe(true)
    expect(clock.waiting()).toBe(0)
  })

  it('giveUpAfterMs counts the whole wait, and replaces patience', async () => {
    const clock = fakeClock()
    const mutex = new FairMutex(clock, 1000)
    const end = await mutex.acquire()
    const hasty = expect(mutex.acquire({ giveUpAfterMs: 50 })).rejects.toMatchObject({ code: 'STORE_BUSY' })
    const now = expect(mutex.acquire({ giveUpAfterMs: 0 })).rejects.toMatchObject({ code: 'STORE_BUSY' })
    const patient = mutex.acquire({ giveUpAfterMs: 5000 })
    await now
    await clock.advance(50)
    await hasty
    await clock.advance(4000)
    end()
    const endPatient = await patient
    endPatient()
    expect(clock.waiting()).toBe(0)
  })

  it('a signal ends the wait, and a caller that has left is passed over', async () => {
    const clock = fakeClock()
    const mutex = new FairMutex(clock, 1000)
    const end = await mutex.acquire()
    const abort = new AbortController()
    const leaving = mutex.acquire({ signal: abort.signal })
    const staying = mutex.acquire()
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(leaving).rejects.toBe(reason)
    await expect(mutex.acquire({ signal: abort.signal })).rejects.toBe(reason)
    end()
    const endStaying = await staying
    endStaying()
    expect(clock.waiting()).toBe(0)
  })

  it('closed it refuses those who wait and those who come, and waits for the holder', async () => {
    const mutex = new FairMutex(fakeClock(), 1000)
    const end = await mutex.acquire()
    const error = new Error('closed')
    const waiting = expect(mutex.acquire()).rejects.toBe(error)
    let isClosed = false
    const closing = mutex.close(error).then(() => {
      isClosed = true
    })
    await waiting
    await expect(mutex.acquire()).rejects.toBe(error)
    await settled()
    expect(isClosed).toBe(false)
    end()
    await closing
    await mutex.close(error)
  })
})

import { describe, expect, it } from 'vitest'
import { JustonceError } from '../../errors/index.ts'
import { classify, endsTransaction, explained } from './errors.ts'

/** As mysql2 makes them of what the server says. */
function said(errno: number, message = 'so it says'): Error {
  return Object.assign(new Error(message), { errno, code: `ER_${errno}`, sqlState: 'HY000' })
}

describe('what an error of MySQL means', () => {
  it.each([
    [said(1213), 'conflict'],
    [said(1205), 'conflict'],
    [said(1969), 'conflict'],
    [said(3024), 'conflict'],
    [said(1053), 'unavailable'],
    [said(1927), 'unavailable'],
    [said(1040), 'unavailable'],
    [said(1836), 'unavailable'],
    [said(1290, 'The MariaDB server is running with the --read-only option'), 'unavailable'],
    [said(1290, 'The server is running with the --secure-file-priv option'), 'none'],
    [said(1114, 'The table is full'), 'none'],
    [said(1021, 'Disk full'), 'unavailable'],
    [said(1206), 'none'],
    [said(1792), 'none'],
    [said(1030, 'Got error 28 "No space left on device" from storage engine'), 'unavailable'],
    [said(1030, 'Got error 122 from storage engine'), 'none'],
    [said(1062), 'none'],
    [said(1146), 'none'],
    [Object.assign(new Error('connect'), { errno: -111, code: 'ECONNREFUSED' }), 'unavailable'],
    [Object.assign(new Error('lost'), { code: 'PROTOCOL_CONNECTION_LOST', fatal: true }), 'unavailable'],
    [new Error("Can't add new command when connection is in closed state"), 'unavailable'],
    [Object.assign(new Error('of another'), { errno: 1213 }), 'none'],
  ])('%s', (error, trouble) => {
    expect(classify(error)).toBe(trouble)
  })

  it('a transaction that a deadlock has ended is a conflict, one that its handler has ended is not', () => {
    const ended = (cause?: unknown) => new JustonceError('TX_ENDED', { message: 'It is gone.', cause })
    expect(classify(ended(said(1213)))).toBe('conflict')
    expect(classify(ended())).toBe('none')
  })

  it('knows which errors end the whole transaction', () => {
    expect(endsTransaction(said(1213), false)).toBe(true)
    expect(endsTransaction(said(1205), false)).toBe(false)
    expect(endsTransaction(said(1205), true)).toBe(true)
    expect(endsTransaction(said(1305, 'SAVEPOINT a does not exist'), false)).toBe(true)
    expect(endsTransaction(said(1305, 'PROCEDURE a does not exist'), false)).toBe(false)
    expect(endsTransaction(said(1062), true)).toBe(false)
  })

  it('explains what is behind a failed statement of ours', () => {
    expect(explained(said(1146))).toMatchObject({ code: 'SCHEMA_MISSING' })
    expect(explained(said(1054))).toMatchObject({ code: 'SCHEMA_OLD' })
    expect(explained(said(1114))).toMatchObject({ code: 'STORE_FULL' })
    expect(explained(said(1142))).toMatchObject({ code: 'STORE_DENIED' })
    expect(explained(said(1100))).toMatchObject({ code: 'STORE_DENIED' })
    expect(explained(said(1290, 'running with the --max-session-mem-used=8192 option'))).toMatchObject({
      code: 'STORE_DENIED',
    })
    const readOnly = said(1290, 'running with the --read-only option')
    expect(explained(readOnly)).toBe(readOnly)
    expect(explained(new Error('Pool is closed.'))).toMatchObject({ code: 'STORE_CLOSED' })
    const other = said(1062)
    expect(explained(other)).toBe(other)
  })
})

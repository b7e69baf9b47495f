import { expect, test } from 'vitest'
import { logEvents } from '../../src/index.ts'
import { note, openApp, write } from './open-app.ts'

test('what was processed, duplicates, retries and dead letters have levels of their own, the fields of their event and its error', async () => {
  const lines: [level: string, text: string, fields: object][] = []
  const to = (level: string) => (fields: object, text: string) => void lines.push([level, text, fields])
  const logger = { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') }
  const { app, transport, clock, quiet } = openApp()
  app.events.listen(logEvents(logger))
  app.on('note.created', { name: 'tag-note', retry: { attempts: 2 } }, ({ id }, { tx }) => {
    if (id === 'm2') throw new TypeError('no\nsuch note')
    write(tx, id)
  })
  await app.start()
  transport.send([note('m1'), note('m2')])
  await quiet()
  transport.send([note('m1')])
  await quiet()
  await clock.advance(600_000)

  const shown = (wanted: string) => lines.filter(([level]) => level === wanted).map(([, text]) => text)
  expect(shown('debug')).toEqual(['tag-note processed m1'])
  expect(shown('info')).toEqual([expect.stringMatching(/^tag-note skipped m1: a duplicate from memory/)])
  expect(shown('warn')).toEqual(['tag-note failed on m2 (1 attempt), tried again later: TypeError: no such note'])
  expect(shown('error')).toEqual([
    'dead letter: tag-note gave up m2 after 2 attempts: HANDLER_FAILED, TypeError: no such note',
  ])
  const [, , fields] = lines.find(([level]) => level === 'error') as (typeof lines)[0]
  expect(fields).toMatchObject({ kind: 'parked', key: 'm2', state: 'dead', err: expect.any(TypeError) })
  expect(fields).not.toHaveProperty('error')
})

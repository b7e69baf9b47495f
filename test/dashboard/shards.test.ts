import { expect, test } from 'vitest'
import { dashboard } from '../../src/dashboard/index.ts'
import { all, appWithLetters, asking } from './fixture.ts'

async function open(path?: string) {
  const [eu, us] = [await appWithLetters(), await appWithLetters()]
  const options = { access: () => all, ...(path !== undefined && { path }) }
  const { handle } = dashboard({ eu: eu.app.operations, 'u/s <b>': us.app.operations }, options)
  return { eu, us, ...asking(handle) }
}

test.each([undefined, '/ops'])('each shard has its dashboard below its name, mounted at %s', async (path) => {
  const { eu, us, get, post } = await open(path)
  const at = path === undefined ? '' : 'ops/'
  const index = await (await get(at)).text()
  expect(index).toContain('["eu","u/s \\u003cb>"]')
  expect(index).not.toContain('<b>')
  expect(await (await get(`${at}eu/`)).text()).toContain('<div id="page">')
  const body = { selection: { handler: 'invoice', key: 'o1' }, by: 'ana' }
  expect(await (await post(`${at}u%2Fs%20%3Cb%3E/api/letters/discard`, body)).json()).toEqual({ discarded: 1 })
  expect(await us.app.operations.letters.list()).toHaveLength(2)
  expect(await eu.app.operations.letters.list()).toHaveLength(3)
})

test('what is no shard is not there, and only the names are shown without access', async () => {
  const { get, post } = await open()
  expect((await get('mars/api/overview')).status).toBe(404)
  expect((await get('api/overview')).status).toBe(404)
  expect((await post('', {})).status).toBe(404)
  const { app } = await appWithLetters()
  const guarded = asking(dashboard({ eu: app.operations }, { token: 'a-token-that-is-long' }).handle)
  expect((await guarded.get('')).status).toBe(200)
  expect((await guarded.get('eu/api/overview')).status).toBe(401)
})

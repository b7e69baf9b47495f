import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error It comes without types.
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { nodeHandler as toNode } from '../../src/dashboard/node-handler.ts'
import { openDashboard } from './fixture.ts'

type Board = Awaited<ReturnType<typeof openDashboard>>

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const path = '/justonce'

/** As the guide mounts it. */
const frameworks: readonly (readonly [name: string, mount: (board: Board) => Promise<string>])[] = [
  ['Express', async ({ nodeHandler }) => await listening(express().use(path, nodeHandler))],
  [
    'Express with a body parser',
    async ({ nodeHandler }) => await listening(express().use(express.json()).use(path, nodeHandler)),
  ],
  [
    'Fastify',
    async ({ nodeHandler }) => {
      const server = fastify()
      server.all(`${path}/*`, (request, reply) => {
        reply.hijack()
        return nodeHandler(Object.assign(request.raw, { body: request.body }), reply.raw)
      })
      onTestFinished(() => server.close())
      return await server.listen({ port: 0, host: '127.0.0.1' })
    },
  ],
  [
    'Hono',
    async ({ handle }) =>
      await listening(toNode(async (request) => await new Hono().mount(path, handle).fetch(request))),
  ],
]

test.each(frameworks)('%s serves the page, answers it and takes its changes', async (name, mount) => {
  const board = await openDashboard(name === 'Fastify' ? { path } : {})
  const url = `${await mount(board)}${path}`
  expect(await (await fetch(`${url}/`)).text()).toContain('<div id="page">')
  expect(await (await fetch(`${url}/api/session`)).json()).toMatchObject({ by: 'ana' })
  expect((await fetch(`${url}/api/messages/story?id=o1`)).status).toBe(200)
  const discard = async (key: string) =>
    await fetch(`${url}/api/letters/discard`, {
      method: 'POST',
      body: JSON.stringify({ selection: { handler: 'invoice', key }, why: 'test' }),
      headers: { 'content-type': 'application/json', 'x-justonce-dashboard': '1' },
    })
  expect(await (await discard('o1')).json()).toEqual({ discarded: 1 })
  expect((await discard('nothing')).status).toBe(404)
  expect(await board.app.operations.letters.list()).toHaveLength(2)
})

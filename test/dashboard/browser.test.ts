import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { serveDashboard } from '../../src/dashboard/index.ts'
import { chromium, startChromium } from '../servers/chromium.ts'
import { requirePrograms } from '../servers/require.ts'
import { markup, openScene } from './scene.ts'

const available = await requirePrograms(chromium)
/** Screenshots are kept, so that somebody can look at them. */
const folder = fileURLToPath(new URL('../../.cache/screenshots', import.meta.url))

let browser: Browser
let scene: Awaited<ReturnType<typeof openScene>>

/** A page that fails its test if anything goes wrong in it, or leaves this machine. */
async function openPage(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options })
  const trouble: string[] = []
  page.on('pageerror', (error) => trouble.push(error.message))
  page.on('console', (said) => said.type() === 'error' && trouble.push(said.text()))
  page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:)/.test(request.url())) trouble.push(`asked ${request.url()}`)
  })
  page.setDefaultTimeout(20_000)
  onTestFinished(async () => {
    await page.close()
    expect(trouble).toEqual([])
  })
  return page
}

/** It listens to keys before it asks for what its navigation counts. */
async function listensToKeys(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^Dead letters \d/ }).waitFor()
}

async function look(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}

describe.skipIf(!available.available)('the page in a browser', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true })
    browser = await startChromium()
    scene = await openScene()
  })

  afterAll(async () => {
    await scene?.close()
    await browser?.close()
  })

  test('the overview shows rates, charts, what waits and what runs, and still does after a reload', async () => {
    const page = await openPage()
    for (const _ of ['opened', 'reloaded']) {
      await page.goto(scene.url)
      await page.getByRole('link', { name: 'Dead letters 31' }).waitFor()
      expect(await page.locator('.chart canvas').count()).toBe(4)
      await page.getByRole('table', { name: 'Alerts' }).getByText('firing').waitFor()
      await page.getByRole('table', { name: 'Processes' }).getByText('shop').waitFor()
      const flow = page.getByRole('img', { name: /^Messages per second, now: processed/ })
      await flow.waitFor()
    }
    await look(page, 'overview')
  })

  test('the overview leads to a queue of the store, which is read to its end', async () => {
    const page = await openPage()
    await page.goto(scene.url)
    await page.getByRole('link', { name: 'In queue imports' }).click()
    const list = page.getByRole('table', { name: 'In queue imports' })
    await list.getByRole('link', { name: 'import-49', exact: true }).waitFor()
    expect(await list.getByRole('link', { name: 'import-50', exact: true }).count()).toBe(0)
    await page.getByRole('link', { name: 'Next page' }).click()
    await list.getByRole('link', { name: 'import-59', exact: true }).waitFor()
    expect(await page.title()).toBe('Queue · justonce')
  })

  test('a message is found by its id, and its story is told as text, whatever is in it', async () => {
    const page = await openPage()
    await page.goto(scene.url)
    await listensToKeys(page)
    await page.keyboard.press('/')
    const search = page.getByRole('textbox', { name: 'Message id or business id' })
    await search.waitFor()
    await page.waitForFunction('document.activeElement.name === "id"')
    const { id } = scene.paid[7] as { id: string }
    await page.keyboard.insertText(id)
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: 'Messages' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Message order-7-paid' }).waitFor()
    await page.getByText('sent again, or the broker does not say why').first().waitFor()
    expect(await page.getByText(markup).count()).toBeGreaterThan(0)
    expect(await page.title()).toBe('Message · justonce')
    expect(await page.locator('#page img, #page script').count()).toBe(0)
    await look(page, 'story')
  })

  test('a group is redriven with a canary, and its progress is watched to the end', async () => {
    const page = await openPage()
    await page.goto(`${scene.url}#/letters`)
    const row = page.getByRole('row', { name: /No stock for/ })
    await row.getByRole('button', { name: 'Note' }).click()
    await page.getByRole('textbox', { name: /^Note/ }).fill(`waits for a delivery ${markup}`)
    await page.getByRole('button', { name: 'Keep' }).click()
    await page.getByText('waits for a delivery').waitFor()
    await look(page, 'dead-letters')
    scene.restock()
    await row.getByRole('button', { name: 'Redrive' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('write-invoice would get 28 messages').waitFor()
    await dialog.getByRole('spinbutton', { name: /canary/ }).fill('3')
    await dialog.getByRole('textbox', { name: 'Why' }).fill('the stock has arrived')
    await look(page, 'redrive')
    await dialog.getByRole('button', { name: 'Redrive', exact: true }).click()
    await page.getByText('28 succeeded').waitFor()
    await page.getByText('finished').waitFor()
    await look(page, 'redrive-progress')
    expect(await scene.app.operations.letters.list({ errorText: 'No stock' })).toEqual([])
  })

  test('a dead letter is edited, its changes are shown, and it is redriven', async () => {
    const [letter] = await scene.app.operations.letters.list({ errorText: 'Unknown country' })
    const page = await openPage()
    await page.goto(`${scene.url}#/message?id=${letter?.messageId}`)
    await page.getByRole('button', { name: 'Edit and redrive' }).click()
    const body = page.getByRole('textbox', { name: /^Body/ })
    const submit = page.getByRole('button', { name: 'Redrive with this body' })
    await body.fill('{ no')
    expect(await submit.isDisabled()).toBe(true)
    const text = JSON.stringify({ ...(letter?.body as object), country: 'fr' }, undefined, 2)
    await body.fill(text)
    await page.locator('.diff .added').getByText('"country": "fr"').waitFor()
    await look(page, 'edit')
    await submit.click()
    await page.getByText('1 succeeded').waitFor()
    expect(await scene.app.operations.audit(5)).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ action: 'edit', by: 'ana' })]),
    )
  })

  test('an intent whose outcome nobody knows is resolved by a person', async () => {
    const page = await openPage()
    await page.goto(`${scene.url}#/intents?only=person`)
    await look(page, 'intents')
    await page.getByRole('table', { name: 'Intents', exact: true }).getByRole('link').first().click()
    await page.getByRole('button', { name: 'It happened' }).click()
    await page.getByRole('textbox', { name: /^Its result/ }).fill('{"tracking":"T-1"}')
    await page.getByRole('button', { name: 'It happened', exact: true }).click()
    await page.getByText('It has ended').waitFor()
    expect(await scene.app.operations.audit(1)).toMatchObject([{ action: 'resolve', by: 'ana' }])
  })

  test('a reservation shows what is set aside for it, and can be cancelled, but not called done', async () => {
    const page = await openPage()
    await page.goto(`${scene.url}#/intent?effect=reserve-order&key=order-r`)
    await page.getByText('stock trying, credit reserved').waitFor()
    expect(await page.getByRole('button', { name: 'It happened' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Cancel …' }).click()
    await page.getByText('What its participants have set aside is given back.').waitFor()
    await look(page, 'cancel-reservation')
  })

  test('a handler is paused and resumed', async () => {
    const page = await openPage()
    await page.goto(`${scene.url}#/handlers`)
    const row = page.getByRole('row', { name: /notify-warehouse/ })
    await row.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('textbox', { name: 'Why' }).fill('the warehouse is closed')
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await row.getByText('by ana: the warehouse is closed').waitFor()
    await look(page, 'handlers')
    await row.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Resume', exact: true }).click()
    await row.getByRole('button', { name: 'Pause' }).waitFor()
  })

  test.each([
    ['dark', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
    ['on a phone', { colorScheme: 'light', viewport: { width: 400, height: 800 } }],
  ] as const)('every page is there %s, and none is wider than the screen', async (name, options) => {
    const page = await openPage(options)
    for (const path of [
      '',
      'messages',
      'letters?tab=list',
      'waiting',
      'outgoing',
      'queue?queue=imports',
      'intents',
      'handlers',
      'schedules',
      'audit',
    ]) {
      await page.goto(`${scene.url}#/${path}`)
      await page.locator('h1').waitFor()
      await page.waitForLoadState('networkidle')
      const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect([path, await page.evaluate(wider)]).toEqual([path, 0])
      await look(page, `${name.replaceAll(' ', '-')}-${path.split('?')[0] || 'overview'}`)
    }
  })

  test('its colours follow the system, unless somebody has chosen others', async () => {
    const page = await openPage({ colorScheme: 'light' })
    await page.goto(scene.url)
    await listensToKeys(page)
    const ground = async () => String(await page.evaluate('getComputedStyle(document.body).backgroundColor'))
    const light = await ground()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.locator('html[data-theme=dark]').waitFor()
    const dark = await ground()
    expect(dark).not.toBe(light)
    await page.getByLabel('Colours').selectOption('light')
    expect(await ground()).toBe(light)
    await page.reload()
    await listensToKeys(page)
    expect(await ground()).toBe(light)
  })

  test('by keyboard: g and a letter, and the keys themselves', async () => {
    const page = await openPage()
    await page.goto(scene.url)
    await listensToKeys(page)
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
  })

  test('a token is asked for, kept for the tab, and taken out of the address', async () => {
    const token = 'a-token-100%-long-enough'
    const server = await serveDashboard(scene.app.operations, { port: 0, token })
    onTestFinished(() => server.close())
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(server.url)
    for (const given of ['wrong', token]) {
      await page.getByLabel('Token').fill(given)
      await page.getByRole('button', { name: 'Enter' }).click()
    }
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const other = await browser.newPage()
    onTestFinished(() => other.close())
    await other.goto(`${server.url}#token=${token}`)
    await other.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(other.url()).toBe(`${server.url}#/`)
    // Somebody without a name cannot sign what they do.
    await other.goto(`${server.url}#/handlers`)
    await other.getByRole('button', { name: 'Pause' }).first().click()
    await other.getByRole('textbox', { name: 'Your name' }).waitFor()
  })
})

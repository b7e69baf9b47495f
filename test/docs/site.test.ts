import { rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeScratchFolder } from '../../tools/repo.ts'
import { renderSite, writeSite } from '../../tools/site/build-site.ts'
import { chromium, startChromium } from '../servers/chromium.ts'
import { requirePrograms } from '../servers/require.ts'

const { available } = await requirePrograms(chromium)

describe.skipIf(!available)('the site in a browser', () => {
  const folder = makeScratchFolder('site')
  const address = (path: string) => `${pathToFileURL(folder).href}/${path}`
  let browser: Browser

  beforeAll(async () => {
    writeSite(folder, renderSite())
    browser = await startChromium()
  })
  afterAll(async () => {
    await browser?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('finds names and Chinese words, from a folder without a server', async () => {
    const page = await browser.newPage()
    await page.goto(address('guides/choosing.html'))
    for (const [words, url] of [
      ['keepResult', /running\.html#keep-what/],
      ['state machine', /schemes\.html#state-machine/],
      ['状态机', /zh-CN\/schemes\.html#/],
    ] as const) {
      await page.fill('#search', words)
      await page.locator('#found a').first().waitFor()
      await expect.poll(() => page.locator('#found a').first().getAttribute('href')).toMatch(url)
    }
    await page.press('#search', 'Enter')
    await page.waitForURL(/zh-CN/)
    await page.close()
  })

  test('is dark if the reader wants it, and stays as it was chosen', async () => {
    const page = await browser.newPage({ colorScheme: 'dark' })
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    await page.goto(address('index.html'))
    const dark = await background()
    await page.click('#theme')
    const light = await background()
    expect(light).not.toBe(dark)
    await page.reload()
    expect(await background()).toBe(light)
    await page.close()
  })

  test('a page that is far down in the list is marked there, and begins with its title', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(address('guides/scale.html'))
    expect(await page.evaluate('scrollY')).toBe(0)
    const place = await page.locator('nav [aria-current]').boundingBox()
    expect(place?.y).toBeGreaterThan(0)
    expect(place?.y).toBeLessThan(900)
    await page.close()
  })

  test('fits a phone, with a menu', async () => {
    const page = await browser.newPage({ viewport: { width: 400, height: 800 } })
    for (const path of [
      'index.html',
      'guides/semantics.html',
      'reference/api/justonce.html',
      'reference/options.html',
      'zh-CN/schemes.html',
    ]) {
      await page.goto(address(path))
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(400)
    }
    expect(await page.locator('nav').isVisible()).toBe(false)
    // Wherever the reader is on the page.
    await page.evaluate('scrollTo({ top: 2000, behavior: "instant" })')
    const menu = () => page.evaluate('document.getElementById("menu").click()')
    await menu()
    const first = await page.locator('nav summary').first().boundingBox()
    expect(first?.y).toBeGreaterThan(50)
    expect(first?.y).toBeLessThan(200)
    await menu()
    expect(await page.evaluate('scrollY')).toBe(2000)
    await page.close()
  })
})

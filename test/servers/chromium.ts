import { type Browser, chromium as playwright } from 'playwright-core'
import { findBinaries } from './find-binaries.ts'
import { binariesOf, type InPackages } from './server.ts'

/** A real browser, for tests of pages. */
export const chromium: InPackages = {
  name: 'chromium',
  packages: ['chromium'],
  find: () => findBinaries(['chromium']),
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export async function startChromium(): Promise<Browser> {
  return await playwright.launch({ executablePath: binariesOf(chromium).chromium as string, args: flags })
}

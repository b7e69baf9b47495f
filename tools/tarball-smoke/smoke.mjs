// Runs in an empty project that has installed the tarball: the package as an ES module user sees it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { useThePackage } from './use-the-package.mjs'

const installed = JSON.parse(readFileSync('node_modules/justonce/package.json', 'utf8'))
const modules = {}
for (const key of Object.keys(installed.exports)) {
  if (key === './package.json') continue
  modules[key] = await import(`justonce${key.slice(1)}`)
  assert.ok(Object.keys(modules[key]).length > 0, `${key} exports nothing`)
}

await useThePackage(modules)

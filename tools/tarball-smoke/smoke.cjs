// Runs in an empty project that has installed the tarball: the package as a CommonJS user sees it.
const assert = require('node:assert/strict')
const { useThePackage } = require('./use-the-package.mjs')

const installed = require('justonce/package.json')
const modules = {}
for (const key of Object.keys(installed.exports)) {
  if (key === './package.json') continue
  modules[key] = require(`justonce${key.slice(1)}`)
  assert.ok(Object.keys(modules[key]).length > 0, `${key} exports nothing`)
}

useThePackage(modules).catch((error) => {
  console.error(error)
  process.exitCode = 1
})

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readPackageExports } from './package-exports.ts'
import { readPublicModules } from './reference/public-symbols.ts'
import { referenceFolder, renderReference } from './reference/render-reference.ts'
import { fromRoot } from './repo.ts'

rmSync(fromRoot(referenceFolder), { recursive: true, force: true })
mkdirSync(fromRoot(referenceFolder), { recursive: true })
for (const [path, text] of renderReference(readPublicModules(readPackageExports()))) writeFileSync(fromRoot(path), text)

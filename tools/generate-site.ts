import { resolve } from 'node:path'
import { fromRoot } from './repo.ts'
import { renderSite, writeSite } from './site/build-site.ts'

const folder = process.argv[2] === undefined ? fromRoot('.cache/site') : resolve(process.argv[2])
const site = renderSite()
writeSite(folder, site)
console.log(`${site.size} files in ${folder}; open index.html there, or serve the folder`)

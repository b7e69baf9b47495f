import { libraries } from '../sqlite/open-sqlite.ts'
import { openStoreCase } from '../sqlite/store-case-context.ts'
import { bindStoreCases } from './bind-store-cases.ts'

for (const library of libraries) bindStoreCases(`sqlite on ${library.name}`, { open: () => openStoreCase(library) })

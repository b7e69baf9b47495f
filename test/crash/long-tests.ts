import { vi } from 'vitest'

// Each wait has its own bound and says what it waited for; the bound of the whole test says nothing.
vi.setConfig({ testTimeout: 240_000 })

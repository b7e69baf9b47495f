import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from '../tools/longest-first.ts'
import { keepFilesInMemory } from './servers/memory-disk.ts'

// For this process, which starts the shared servers, and for its workers.
keepFilesInMemory(process.env)
// Stripping the types of the sources is most of what it costs to start a program; the first does it for all.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/justonce-compiled', import.meta.url))

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['test/servers/global-setup.ts'],
    pool: 'forks',
    // On two cores: much of what tests do is to wait.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A second, as by default, is less than a busy machine may leave a process without a processor.
    expect: { poll: { timeout: 20_000 } },
  },
})

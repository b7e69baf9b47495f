export type { ApiShape } from './api-shape.ts'
export { type OpenTelemetry, openTelemetry } from './open-telemetry.ts'

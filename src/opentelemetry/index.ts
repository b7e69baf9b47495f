export type { ApiShape } from './api-shape.ts'
export type { Measurable } from './measure.ts'
export { type OpenTelemetry, openTelemetry } from './open-telemetry.ts'

export { backoffMs } from './backoff.ts'
export { believedClock, type ClockMemory, type ClockVerdict, clockPatienceMs } from './believed-clock.ts'
export { type ChangeSignal, changeSignal } from './change-signal.ts'
export { systemClock } from './system-clock.ts'

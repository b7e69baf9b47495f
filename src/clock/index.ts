export { believedClock, type ClockMemory, type ClockVerdict, clockPatienceMs } from './believed-clock.ts'
export { systemClock } from './system-clock.ts'

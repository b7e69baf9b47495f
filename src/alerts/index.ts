export { Alerter, type AlerterParts } from './alerter.ts'
export { type Measured, measure } from './measure.ts'
export { type AlertCondition, type AlertNotice, type AlertOptions, type AlertRule, decideAlerts } from './rule.ts'

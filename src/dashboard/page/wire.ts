import type { IntentCounts as Counts, IntentView } from '../../operations/intent-types.ts'
import type * as messages from '../../operations/message-types.ts'
import type * as monitoring from '../../operations/monitoring-types.ts'
import type { DelayedMessage, OutgoingView } from '../../operations/outgoing-types.ts'
import type * as operations from '../../operations/types.ts'
import type { Permission } from '../options.ts'
import type { ShownBody } from '../shown-body.ts'

/** A value as it arrives here: JSON has no dates. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Wire<T[Name]> }
      : T

export interface Session {
  readonly by?: string
  readonly may: readonly Permission[]
  readonly version: string
}

type Row<View extends operations.ParkedView> = Wire<Omit<View, 'body' | 'originalBody' | 'headers' | 'errors'>> & {
  readonly error?: string
}
type Whole<View extends operations.ParkedView> = Wire<Omit<View, 'body' | 'originalBody'>> & {
  readonly body: ShownBody
  readonly originalBody?: ShownBody
}

export type Overview = Wire<monitoring.Overview>
export type Minute = Overview['history'][number]
export type Alert = Wire<monitoring.AlertView>
export type Process = Wire<monitoring.ProcessView>
export type Handler = Wire<monitoring.HandlerView>
export type Found = Wire<messages.FoundMessage>
export type HandlerStory = Omit<Wire<messages.HandlerStory>, 'result'> & { readonly result?: ShownBody }
export type Story = Omit<Wire<messages.MessageStory>, 'message' | 'handlers' | 'outgoing'> & {
  readonly outgoing: readonly OutgoingRow[]
  readonly handlers: readonly HandlerStory[]
  readonly message?: {
    readonly headers: Readonly<Record<string, string>>
    readonly edited: boolean
    readonly body: ShownBody
    readonly originalBody?: ShownBody
  }
}
export type OutgoingRow = Wire<Omit<OutgoingView, 'body' | 'headers'>>
export type ParkedRow = Row<operations.ParkedView>
export type LetterRow = Row<operations.DeadLetter>
export type Letter = Whole<operations.DeadLetter>
export type WaitingRow = Row<operations.WaitingRetry>
export type Group = Wire<operations.CountedGroup>
export type Preview = Wire<operations.RedrivePreview>
export type RedriveStatus = Wire<operations.RedriveStatus>
export type IntentRow = Wire<Omit<IntentView, 'payload' | 'errors'>> & { readonly error?: string }
export type Intent = Wire<Omit<IntentView, 'payload'>> & {
  readonly payload: ShownBody
  /** If it is a reservation that has begun. */
  readonly reservation?: Wire<operations.ReservationView>
}
export type IntentCounts = Wire<Counts>
export type Delayed = Wire<Omit<DelayedMessage, 'body'>> & { readonly body: ShownBody }
export type Schedule = Wire<operations.ScheduleStatus>
export type Action = Wire<operations.AuditedAction>
export type Outgoing = {
  readonly waiting: Overview['outgoing']
  readonly refused: readonly { readonly name: string; readonly dead: number }[]
}
/** What an action is done to: single messages, those that match a filter, or all. */
export type Selection = readonly { handler: string; key: string }[] | Readonly<Record<string, unknown>> | 'all'
export type { ShownBody }
